import { expect } from 'chai';
import fc from 'fast-check';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { InFlightSet, type Indexed } from '../../src/lib/in-flight.js';

const CHURN = fileURLToPath(new URL('../helpers/churn.ts', import.meta.url));
const run = promisify(execFile);

describe('UnderWay', () => {
  it('holds what was added and has not ended, as a set does', () => {
    const acts = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 60 });
    fc.assert(
      fc.property(acts, (all) => {
        const ones = Array.from({ length: 10 }, (_, name) => ({ name, index: -1 }));
        const [underWay, set] = [new InFlightSet<(typeof ones)[number]>(), new Set<Indexed>()];
        for (const [adds, at] of all) {
          const one = ones[at];
          if (!one || (adds && set.has(one))) continue;
          for (const some of [underWay, set]) if (adds) some.add(one);
          for (const some of [underWay, set]) if (!adds) some.delete(one);
          expect(underWay.size).to.equal(set.size);
          expect([...underWay]).to.have.members([...set]);
        }
      }),
    );
  });

  it('goes through all of them, also where each ends when its turn comes', () => {
    const ones = [1, 2, 3].map((name) => ({ name, index: -1 }));
    const underWay = new InFlightSet<(typeof ones)[number]>();
    for (const one of ones) underWay.add(one);
    const seen: number[] = [];
    for (const one of underWay) {
      seen.push(one.name);
      underWay.delete(one);
    }
    expect(seen).to.deep.equal([1, 2, 3]);
    expect(underWay.size).to.equal(0);
  });

  it('keeps nothing of what has ended until the next full collection', async () => {
    const [ours, those] = await Promise.all([grownBy('under-way'), grownBy('set')]);
    expect(ours).to.be.below(1_000_000);
    // V8 does so to a set. Where it has ceased to, an ordinary set will do.
    expect(those).to.be.above(5_000_000);
  });
});

/** By how many bytes the old space of a process grows while calls come and go. */
async function grownBy(kept: 'under-way' | 'set'): Promise<number> {
  const { stdout } = await run(process.execPath, ['--expose-gc', '--import=tsx', CHURN, kept]);
  return Number(stdout);
}
