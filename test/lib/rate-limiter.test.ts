import { expect } from 'chai';
import { enforceRate } from '../../src/http/rate-limit.js';
import fc from 'fast-check';
import { GatewayError } from '../../src/core/errors.js';
import { RateLimiter } from '../../src/lib/rate-limiter.js';

describe('a rate limiter', () => {
  let now_ms: number;
  let throttle: RateLimiter;
  beforeEach(() => {
    now_ms = 1_700_000_000_000;
    throttle = new RateLimiter(() => now_ms, 3);
  });

  const takeAll = (address: string, per_minute: number): number => {
    let taken = 0;
    while (throttle.consume(address, per_minute) === 0) taken++;
    return taken;
  };

  for (const most of [1, 3, 7, 30, 300]) {
    it(`lets ${most} a minute pass, at once or one by one`, () => {
      expect(takeAll('a', most)).to.equal(most);
      const wait_ms = throttle.consume('a', most);
      expect(wait_ms).to.be.closeTo(60_000 / most, 1);
      now_ms += Math.ceil(wait_ms);
      expect(takeAll('a', most)).to.equal(1);
      now_ms += 60_000;
      expect(takeAll('a', most)).to.equal(most);
    });
  }

  it('never lets more than twice the number pass in any minute', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 80 });
    fc.assert(
      fc.property(steps, (waits) => {
        throttle = new RateLimiter(() => now_ms);
        const passed: number[] = [];
        for (const wait_ms of waits) {
          now_ms += wait_ms;
          if (throttle.consume('a', 5) === 0) passed.push(now_ms);
        }
        for (const start of passed) {
          const within = passed.filter((at) => at >= start && at < start + 60_000);
          expect(within.length).to.be.at.most(10);
        }
      }),
    );
  });

  it('counts each address for itself', () => {
    expect(takeAll('a', 2)).to.equal(2);
    expect(takeAll('b', 2)).to.equal(2);
  });

  it('remembers no more addresses than it may, the latest', () => {
    for (const address of ['a', 'b', 'c']) expect(takeAll(address, 2)).to.equal(2);
    expect(throttle.size).to.equal(3);
    expect(throttle.consume('d', 2)).to.equal(0);
    expect(throttle.size).to.equal(3);
    expect(throttle.consume('c', 2)).to.be.greaterThan(0);
    expect(throttle.consume('a', 2)).to.equal(0);
  });

  it('tells how long to wait', async () => {
    await enforceRate(throttle, 'a', 1, 'tries');
    const refusal = await enforceRate(throttle, 'a', 1, 'tries').catch((error: unknown) => error);
    expect(refusal).to.be.instanceof(GatewayError);
    expect(String(refusal)).to.include('Too many tries from your address: try again in 60 s.');
    expect(refusal).to.have.deep.property('headers', { 'retry-after': '60' });
  });

  it('blocks nobody for an hour where the clock was set back by an hour', () => {
    expect(takeAll('a', 2)).to.equal(2);
    now_ms -= 3_600_000;
    expect(throttle.consume('a', 2)).to.equal(0);
    expect(takeAll('a', 2), 'and still counts').to.equal(1);
  });
});
