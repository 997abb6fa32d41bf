import type { RequestRecord } from '../../core/request-record.js';
import { RequestSums } from '../requests/request-sums.js';

/** As many as one step of the roll-up may add: it makes each known by its account. */
const ROWS = 4_000;
/** Each is several rows of totals. */
const GROUPS = 250;
/** More wait only while the roll-up fails, and it can read the records instead. */
const MAX_STRETCHES = 50;

/** Records that lie together, after the number `from` and up to `to`, with their sums. */
interface Stretch {
  from: number;
  to: number;
  sums: RequestSums;
}

/**
 * The sums of the records that this process has written and the totals do not have yet. They hold
 * only where its records lie together: those of another process in between end a stretch. What is
 * missing here is read from the database.
 */
export class FreshRequests {
  #stretches: Stretch[] = [];

  /** Takes records that a transaction has inserted, so that they are the last up to this number. */
  add(records: readonly RequestRecord[], to: number): void {
    const from = to - records.length;
    let last = this.#stretches.at(-1);
    if (last?.to !== from) this.forget();
    if (last?.to !== from || isFull(last)) {
      last = { from, to, sums: new RequestSums() };
      this.#stretches.push(last);
    }
    for (const record of records) last.sums.add(record);
    last.to = to;
    if (this.#stretches.length > MAX_STRETCHES) this.forget();
  }

  /** Records were not inserted after all, or not all of them. */
  forget(): void {
    this.#stretches = [];
  }

  /** Where the next stretch begins after that number, or at it. */
  next(upto: number): number | undefined {
    while (this.#stretches[0] && this.#stretches[0].from < upto) this.#stretches.shift();
    return this.#stretches[0]?.from;
  }

  /** Gives the stretch that begins there away. */
  take(from: number): Stretch | undefined {
    return this.next(from) === from ? this.#stretches.shift() : undefined;
  }
}

function isFull({ from, to, sums }: Stretch): boolean {
  return to - from >= ROWS || sums.groups >= GROUPS;
}
