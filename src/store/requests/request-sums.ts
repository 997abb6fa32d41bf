import {
  CLIENT_DISCONNECTED_STATUS,
  FLAGS,
  type RequestRecord,
} from '../../core/request-record.js';
import { TOKEN_CLASSES, type TokenClass } from '../../core/usage.js';

export const HOUR_MS = 3_600_000;
const MAX_SUMMED_NANO = 10n ** 15n;

/** One figure of the totals: a sum over the records, in SQL and in TypeScript. */
interface Figure<Value> {
  sql: string;
  of: (record: RequestRecord) => Value;
}

/** The figures that are counts, or milliseconds. */
export const COUNTS: Readonly<Record<string, Figure<number>>> = {
  calls: { sql: '1', of: () => 1 },
  failed: {
    sql: `case when code is not null and status <> ${CLIENT_DISCONNECTED_STATUS} then 1 else 0 end`,
    of: ({ code, status }) => (code !== null && status !== CLIENT_DISCONNECTED_STATUS ? 1 : 0),
  },
  estimated: bit(FLAGS.estimated),
  fallbacks: bit(FLAGS.fallback),
  prompt_tokens: known('prompt_tokens'),
  completion_tokens: known('completion_tokens'),
  ...Object.fromEntries(TOKEN_CLASSES.map((name) => [name, known(name)])),
  took_ms: { sql: 'took_ms', of: ({ took_ms }) => took_ms },
  own_ms: { sql: 'own_ms', of: ({ own_ms }) => own_ms },
};

/** The figures that are money. */
export const AMOUNTS: Readonly<Record<string, Figure<bigint>>> = {
  cost_nano: atMost('cost_nano'),
  uncollected_nano: atMost('uncollected_nano'),
};

/** An amount counts as a million dollars at most, so that the sum of a batch fits 64 bits. */
function atMost(amount: 'cost_nano' | 'uncollected_nano'): Figure<bigint> {
  return {
    sql: `case when ${amount} > ${MAX_SUMMED_NANO} then ${MAX_SUMMED_NANO} else ${amount} end`,
    of: ({ [amount]: nano }) => (nano > MAX_SUMMED_NANO ? MAX_SUMMED_NANO : nano),
  };
}

function bit(flag: number): Figure<number> {
  return {
    sql: `case when flags & ${flag} <> 0 then 1 else 0 end`,
    of: ({ flags }) => ((flags & flag) === 0 ? 0 : 1),
  };
}

function known(name: TokenClass | 'prompt_tokens' | 'completion_tokens'): Figure<number> {
  return { sql: `coalesce(${name}, 0)`, of: (record) => record[name] ?? 0 };
}

/** Buckets of latencies in an octave: each begins 19 % above the one below. */
export const PER_OCTAVE = 4;

/** The bucket of a latency. */
function bucketOf(ms: number): number {
  return Math.floor((PER_OCTAVE * Math.log(Math.max(ms, 1))) / Math.LN2);
}

/** The lowest latency of a bucket, in ms. */
export function bucketStart_ms(bucket: number): number {
  return bucket <= 0 ? 0 : 2 ** (bucket / PER_OCTAVE);
}

const COUNTS_OF = Object.values(COUNTS).map(({ of }) => of);
const AMOUNTS_OF = Object.values(AMOUNTS).map(({ of }) => of);
/** More than the number of buckets, so that two buckets fit into one number. */
const BUCKETS = 1_000;
const NO_BUCKET = BUCKETS - 1;

/** The records of an hour with the same dimensions of the totals. */
interface Group {
  start_ms: number;
  /** One of the records, for the dimensions. */
  sample: RequestRecord;
  counts: number[];
  amounts: bigint[];
  first_id: string;
  last_id: string;
  /** The number of answered calls for each pair of buckets. */
  latencies: Map<number, number>;
}

/**
 * Sums of records, for `ADD_TOTALS` and `ADD_LATENCIES`. Summing here costs a fraction of the time
 * in which the database would read and group the records again.
 */
export class RequestSums {
  readonly #groups = new Map<string, Group>();
  /** The group of the last record, which most records share. */
  #last: Group | undefined;

  get groups(): number {
    return this.#groups.size;
  }

  add(record: RequestRecord): void {
    const { id, code, took_ms, first_token_ms } = record;
    const group = this.#groupOf(record);
    const { counts, amounts, latencies } = group;
    for (let at = 0; at < COUNTS_OF.length; at++) counts[at]! += COUNTS_OF[at]!(record);
    for (let at = 0; at < AMOUNTS_OF.length; at++) amounts[at]! += AMOUNTS_OF[at]!(record);
    if (id < group.first_id) group.first_id = id;
    if (id > group.last_id) group.last_id = id;
    if (code !== null) return;
    const first = first_token_ms === null ? NO_BUCKET : bucketOf(first_token_ms);
    const both = bucketOf(took_ms) * BUCKETS + first;
    latencies.set(both, (latencies.get(both) ?? 0) + 1);
  }

  /** JSON for `ADD_TOTALS`. */
  totals(): string {
    return rows([...this.#groups.values()].map(totalsOf));
  }

  /** JSON for `ADD_LATENCIES`. */
  latencies(): string {
    return rows([...this.#groups.values()].flatMap(latenciesOf));
  }

  #groupOf(record: RequestRecord): Group {
    const start_ms = record.time_ms - (record.time_ms % HOUR_MS);
    if (this.#last && belongsTo(this.#last, record, start_ms)) return this.#last;
    const { account_id, key_id, model, provider, status } = record;
    const name = JSON.stringify([start_ms, account_id, key_id, model, provider, status]);
    const group = this.#groups.get(name) ?? newGroup(record, start_ms);
    this.#groups.set(name, group);
    this.#last = group;
    return group;
  }
}

function newGroup(sample: RequestRecord, start_ms: number): Group {
  return {
    start_ms,
    sample,
    counts: COUNTS_OF.map(() => 0),
    amounts: AMOUNTS_OF.map(() => 0n),
    first_id: sample.id,
    last_id: sample.id,
    latencies: new Map(),
  };
}

function belongsTo({ sample, start_ms }: Group, record: RequestRecord, hour_ms: number): boolean {
  return (
    start_ms === hour_ms &&
    sample.key_id === record.key_id &&
    sample.account_id === record.account_id &&
    sample.model === record.model &&
    sample.provider === record.provider &&
    sample.status === record.status
  );
}

type Value = string | number | bigint | null;

function totalsOf({ start_ms, sample, counts, amounts, first_id, last_id }: Group): Value[] {
  const { account_id, key_id, model, provider, status } = sample;
  const split = [start_ms, account_id, key_id, model ?? '', provider ?? '', status];
  return [...split, ...counts, ...amounts, first_id, last_id];
}

function latenciesOf({ start_ms, sample, latencies }: Group): Value[][] {
  const split = [start_ms, sample.account_id, sample.model ?? '', sample.provider ?? ''];
  return [...latencies].map(([both, calls]) => {
    const first = both % BUCKETS;
    const took = (both - first) / BUCKETS;
    return [...split, took, first === NO_BUCKET ? null : first, calls];
  });
}

/** SQLite reads integers of JSON with all 64 bits. */
function rows(all: readonly (readonly Value[])[]): string {
  const text = (value: Value): string =>
    typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  return `[${all.map((row) => `[${row.map(text).join(',')}]`).join(',')}]`;
}

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
