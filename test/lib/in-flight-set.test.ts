import { expect } from 'chai';
import fc from 'fast-check';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { InFlightSet, type Indexed } from '../../src/lib/in-flight-set.js';

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
