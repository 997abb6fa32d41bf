import { expect } from 'chai';
import { SharedClock } from '../../src/lib/shared-clock.js';

describe('SharedClock', () => {
  let elapsed_ms = 5_000;
  const clockAt = (own_ms: number) => new SharedClock(own_ms, () => elapsed_ms);

  it('goes on by the monotonic clock from what it was told', () => {
    const clock = clockAt(1_000_000);
    expect(clock.now()).to.equal(1_000_000);
    elapsed_ms += 250.4;
    expect(clock.now()).to.equal(1_000_250);
  });

  it('takes the time of the other clock, as of the middle of the look', async () => {
    const clock = clockAt(1_000_000);
    await clock.look(async () => {
      elapsed_ms += 40;
      return 900_000;
    });
    expect(clock.now()).to.equal(900_020);
  });

  it('does not step for less than a second', async () => {
    const clock = clockAt(1_000_000);
    await clock.look(async () => 1_000_999);
    expect(clock.now()).to.equal(1_000_000);
    await clock.look(async () => 1_001_000);
    expect(clock.now()).to.equal(1_001_000);
  });

  it('tells how far another clock is ahead, unless the look took too long to tell', async () => {
    const clock = clockAt(1_000_000);
    const lookFor = (way_ms: number, shared_ms: number) =>
      clock.look(async () => {
        elapsed_ms += way_ms;
        return shared_ms;
      });
    await lookFor(40, 1_000_320);
    expect(clock.offsetOf(1_002_340), 'while it does not step').to.equal(2_000);
    elapsed_ms += 1_000;
    expect(clock.offsetOf(1_002_340)).to.equal(1_000);
    await lookFor(3_000, 1_004_340);
    expect(clock.offsetOf(1_005_340)).to.equal(1_000);
  });

  it('keeps its time where the other clock cannot be read', async () => {
    const clock = clockAt(1_000_000);
    const error = await clock
      .look(() => Promise.reject(new Error('away')))
      .catch((reason: unknown) => reason);
    expect(String(error)).to.include('away');
    expect(clock.now()).to.equal(1_000_000);
  });
});
