import { expect } from 'chai';
import fc from 'fast-check';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  InFlightSet,
  type Indexed,
  EventLoopTurns,
  inNextTurn,
  SharedClock,
} from '../../src/lib/concurrency.js';
import { setImmediate as nextTurn } from 'node:timers/promises';

const CHURN = fileURLToPath(new URL('../helpers/churn.ts', import.meta.url));
const run = promisify(execFile);

describe('InFlightSet', () => {
  it('has the items that were added and not deleted, as a Set has', () => {
    const acts = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 60 });
    fc.assert(
      fc.property(acts, (all) => {
        const ones = Array.from({ length: 10 }, (_, name) => ({ name, index: -1 }));
        const [inFlight, set] = [new InFlightSet<(typeof ones)[number]>(), new Set<Indexed>()];
        for (const [adds, at] of all) {
          const one = ones[at];
          if (!one || (adds && set.has(one))) continue;
          for (const some of [inFlight, set]) if (adds) some.add(one);
          for (const some of [inFlight, set]) if (!adds) some.delete(one);
          expect(inFlight.size).to.equal(set.size);
          expect([...inFlight]).to.have.members([...set]);
        }
      }),
    );
  });

  it('iterates over all items, also if the loop deletes each one', () => {
    const ones = [1, 2, 3].map((name) => ({ name, index: -1 }));
    const inFlight = new InFlightSet<(typeof ones)[number]>();
    for (const one of ones) inFlight.add(one);
    const seen: number[] = [];
    for (const one of inFlight) {
      seen.push(one.name);
      inFlight.delete(one);
    }
    expect(seen).to.deep.equal([1, 2, 3]);
    expect(inFlight.size).to.equal(0);
  });

  it('keeps no ended item alive until the next full collection of garbage', async () => {
    const [ours, those] = await Promise.all([grownBy('in-flight'), grownBy('set')]);
    expect(ours).to.be.below(1_000_000);
    // V8 keeps those of a Set. Once it no longer does, a Set will do.
    expect(those).to.be.above(5_000_000);
  });
});

/** By how many bytes the old space of a process grows while calls come and go. */
async function grownBy(kept: 'in-flight' | 'set'): Promise<number> {
  const { stdout } = await run(process.execPath, ['--expose-gc', '--import=tsx', CHURN, kept]);
  return Number(stdout);
}

describe('the turns of long work', () => {
  it('come one after another, one in each turn of the event loop', async () => {
    const turns = new EventLoopTurns();
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      for (let step = 0; step < 3; step += 1) {
        await turns.next();
        order.push(name);
      }
    };
    const all = Promise.all(['a', 'b', 'c'].map(work));
    let most = 0;
    while (order.length < 9) {
      const before = order.length;
      await nextTurn();
      most = Math.max(most, order.length - before);
    }
    await all;
    expect(order.join('')).to.equal('abcabcabc');
    expect(most).to.equal(1);
  });
});

describe('inNextTurn', () => {
  it('calls the functions of one turn in their order, before any promise that they resolve', async () => {
    const calls: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      inNextTurn(() => {
        calls.push(name);
        void Promise.resolve().then(() => calls.push(`${name} goes on`));
      });
    }
    await Promise.resolve();
    expect(calls).to.deep.equal([]);
    await nextTurn();
    expect(calls).to.deep.equal(['a', 'b', 'c', 'a goes on', 'b goes on', 'c goes on']);
  });

  it('calls a function that comes meanwhile in the turn after', async () => {
    const calls: string[] = [];
    inNextTurn(() => {
      calls.push('first');
      inNextTurn(() => calls.push('second'));
    });
    await nextTurn();
    expect(calls).to.deep.equal(['first']);
    await nextTurn();
    expect(calls).to.deep.equal(['first', 'second']);
  });
});

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

  it('keeps its time where the other clock cannot be read', async () => {
    const clock = clockAt(1_000_000);
    const error = await clock
      .look(() => Promise.reject(new Error('away')))
      .catch((reason: unknown) => reason);
    expect(String(error)).to.include('away');
    expect(clock.now()).to.equal(1_000_000);
  });
});
