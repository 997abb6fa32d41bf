import { getHeapSpaceStatistics } from 'node:v8';
import { InFlightSet, type Indexed } from '../../src/lib/in-flight-set.js';

// A program, `node --expose-gc churn.ts in-flight|set`: calls come and go, and it prints by how
// many bytes the old space had grown at the most, before a full collection came. In a process of
// its own, as others have filled the heap of the tests.

const AT_ONCE = 64;
const CALLS = 50_000;
const LOOK_EVERY = 500;
/** Small objects, as those of a request are: a large one would not be copied when it is old. */
const PIECES = 40;

interface Request extends Indexed {
  pieces: object[];
}

const calls: Pick<InFlightSet<Request>, 'add' | 'delete'> = process.argv[2] === 'set'
  ? new Set()
  : new InFlightSet();

function begin(): Request {
  const one = { index: -1, pieces: Array.from({ length: PIECES }, (_, at) => ({ at })) };
  calls.add(one);
  return one;
}

function oldBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  return old?.space_used_size ?? 0;
}

const open = Array.from({ length: AT_ONCE }, begin);
globalThis.gc?.();
const before = oldBytes();
let most = before;
for (let call = 0; call < CALLS; call += 1) {
  const at = call % AT_ONCE;
  calls.delete(open[at] as Request);
  open[at] = begin();
  if (call % LOOK_EVERY === 0) most = Math.max(most, oldBytes());
}
process.stdout.write(String(most - before));
