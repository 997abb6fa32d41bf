import { expect } from 'chai';
import fc from 'fast-check';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { UnderWay, type Placed } from '../src/under-way.js';

const AT_ONCE = 64;
const CALLS = 50_000;
/** Small objects, as those of a request are: a large one would not be copied when it is old. */
const PIECES = 40;

interface Request extends Placed {
  pieces: object[];
}

/** The set of the calls under way, or one that is to be compared with it. */
type Calls = Pick<UnderWay<Request>, 'add' | 'delete'>;

describe('UnderWay', () => {
  it('holds what was added and has not ended, as a set does', () => {
    const acts = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 60 });
    fc.assert(
      fc.property(acts, (all) => {
        const ones = Array.from({ length: 10 }, (_, name) => ({ name, place: -1 }));
        const [underWay, set] = [new UnderWay<(typeof ones)[number]>(), new Set<Placed>()];
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
    const ones = [1, 2, 3].map((name) => ({ name, place: -1 }));
    const underWay = new UnderWay<(typeof ones)[number]>();
    for (const one of ones) underWay.add(one);
    const seen: number[] = [];
    for (const one of underWay) {
      seen.push(one.name);
      underWay.delete(one);
    }
    expect(seen).to.deep.equal([1, 2, 3]);
    expect(underWay.size).to.equal(0);
  });

  it('keeps nothing of what has ended until the next full collection', () => {
    const [ours, those] = [grownBy(new UnderWay()), grownBy(new Set())];
    expect(ours).to.be.below(2_000_000);
    // V8 does so to a set. Where it has ceased to, an ordinary set will do.
    expect(those)
      .to.be.above(4 * ours)
      .and.above(4_000_000);
  });
});

/** By how many bytes the old space grows while calls come and go. */
function grownBy(calls: Calls): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const begin = (): Request => {
    const one = { place: -1, pieces: Array.from({ length: PIECES }, (_, at) => ({ at })) };
    calls.add(one);
    return one;
  };
  const open = Array.from({ length: AT_ONCE }, begin);
  collect();
  const before = oldBytes();
  for (let call = 0; call < CALLS; call += 1) {
    const at = call % AT_ONCE;
    calls.delete(open[at] as Request);
    open[at] = begin();
  }
  return oldBytes() - before;
}

function oldBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  return old?.space_used_size ?? 0;
}
