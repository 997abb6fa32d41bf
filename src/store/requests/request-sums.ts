import type { RequestRecord } from '../../core/request-record.js';
import { AMOUNTS, bucketOf, COUNTS, HOUR_MS } from './request-totals-sql.js';

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
