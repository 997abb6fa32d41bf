import { flagsOf, type RequestRecord } from '../../../src/core/request-record.js';
import { formatDollars } from '../../../src/lib/money.js';
import type { LedgerEntry } from '../../../src/store/ledger/ledger-columns.js';
import type { Store } from '../../../src/store/store-types.js';
import type { RequestTotals } from '../../../src/store/requests/request-types.js';
import type { Scrape } from '../../helpers/prometheus.js';
import { KINDS, type Kind, type KindName } from './mixed-kinds.js';
import type { Tally } from './mixed-clients.js';

const PAGE = 1_000;

/** All records, the newest first. */
export async function allRecords({ requests }: Store): Promise<RequestRecord[]> {
  const all: RequestRecord[] = [];
  for (let before: string | undefined; ;) {
    const page = await requests.page({ limit: PAGE, ...(before !== undefined && { before }) });
    all.push(...page);
    before = page.at(-1)?.id;
    if (page.length < PAGE) return all;
  }
}

/** The rows of all charges of an account. */
export async function allChargeRows(store: Store, account_id: string): Promise<LedgerEntry[]> {
  const rows: LedgerEntry[] = [];
  for (let after = 0; ;) {
    const page = await store.ledger(account_id, { after, limit: PAGE });
    const last = page.at(-1);
    if (!last) return rows;
    after = last.id;
    rows.push(...page.filter(({ kind }) => kind === 'charge'));
  }
}

/** The charge of each request that has one. Throws where a request has two. */
export async function allCharges(store: Store, account_id: string): Promise<Map<string, bigint>> {
  const charges = new Map<string, bigint>();
  for (const { reference, amount_nano } of await allChargeRows(store, account_id)) {
    if (charges.has(reference)) throw new Error(`${reference} was charged twice.`);
    charges.set(reference, -amount_nano);
  }
  return charges;
}

/** Where the records, the charges and what the clients saw do not tell the same. */
export function differences(
  tally: Tally,
  records: readonly RequestRecord[],
  charges: ReadonlyMap<string, bigint>,
): string[] {
  const found: string[] = [];
  const left: RequestRecord[] = [];
  const known = new Set<string>();
  for (const record of records) {
    const seen = tally.seen.get(record.id);
    if (seen) found.push(...unlike(record, seen.kind, seen.cost));
    else left.push(record);
    const charged = charges.get(record.id) ?? 0n;
    if (charged !== record.cost_nano) found.push(`${record.id}: charged ${charged}`);
    known.add(record.id);
  }
  // Of a call that a kill has broken off, its client does not know how it went.
  const isClear = tally.broken === 0;
  for (const record of isClear ? left : []) found.push(...unlike(record, 'left early', undefined));
  if (left.length > tally.left_early + tally.broken) found.push(`${left.length} unknown records`);
  for (const id of charges.keys()) if (!known.has(id)) found.push(`${id}: a charge, no record`);
  return found;
}

/** Requests whose clients had an answer, and that have no record. */
export function missing(tally: Tally, records: readonly RequestRecord[]): string[] {
  const known = new Set(records.map(({ id }) => id));
  return [...tally.seen]
    .filter(([id, { kind }]) => !known.has(id) && kind !== 'without a key')
    .map(([id]) => id);
}

/** How a record is not as its kind should be. */
function unlike(record: RequestRecord, name: KindName, cost: string | undefined): string[] {
  const kind: Kind = KINDS[name];
  const wanted = {
    ...shapeOf(record),
    endpoint: kind.endpoint,
    status: kind.statuses[0],
    code: kind.code,
    model: kind.model,
    provider: kind.provider,
    streamed: kind.streamed,
    flags: kind.flags.join(),
    faults: kind.faults.join(),
    ...(kind.tokens && { tokens: kind.tokens.join() }),
    ...(kind.cost_nano !== undefined && { cost: formatDollars(kind.cost_nano) }),
    ...(cost !== undefined && { cost }),
  };
  const [is, should] = [JSON.stringify(shapeOf(record)), JSON.stringify(wanted)];
  return is === should ? [] : [`${name} ${record.id}\n  is     ${is}\n  wanted ${should}`];
}

function shapeOf(record: RequestRecord) {
  const { endpoint, status, code, model, provider, streamed, attempts } = record;
  const faults = attempts.map(({ fault }) => fault).join();
  const flags = flagsOf(record).join();
  const tokens = [record.prompt_tokens, record.completion_tokens].join();
  const cost = formatDollars(record.cost_nano);
  return { endpoint, status, code, model, provider, streamed, faults, flags, tokens, cost };
}

type Figures = Pick<
  RequestTotals,
  'calls' | 'failed' | 'estimated' | 'fallbacks' | 'prompt_tokens' | 'completion_tokens'
> & { cost_nano: bigint };

/** What records add up to, under each of their names by `nameOf`. */
export function summed(
  records: readonly RequestRecord[],
  nameOf: (record: RequestRecord) => string,
): Record<string, Figures> {
  const sums: Record<string, Figures> = {};
  for (const record of records) {
    const sum = (sums[nameOf(record)] ??= {
      calls: 0,
      failed: 0,
      estimated: 0,
      fallbacks: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      cost_nano: 0n,
    });
    const flags = flagsOf(record);
    sum.calls += 1;
    if (record.code !== null && record.status !== 499) sum.failed += 1;
    if (flags.includes('estimated')) sum.estimated += 1;
    if (flags.includes('fallback')) sum.fallbacks += 1;
    sum.prompt_tokens += record.prompt_tokens ?? 0;
    sum.completion_tokens += record.completion_tokens ?? 0;
    sum.cost_nano += record.cost_nano;
  }
  return sums;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The same from the totals: by the hour for each key, and by the day for all accounts. */
export async function totalled(
  { requests }: Store,
  period: 'hour' | 'day',
  records: readonly RequestRecord[],
): Promise<[told: Record<string, Figures>, wanted: Record<string, Figures>]> {
  const length_ms = period === 'hour' ? HOUR_MS : DAY_MS;
  const times = records.map(({ time_ms }) => time_ms);
  const from_ms = times.reduce((least, one) => Math.min(least, one), Infinity);
  const to_ms = times.reduce((most, one) => Math.max(most, one), 0) + 1;
  const by =
    period === 'hour'
      ? (['start_ms', 'account_id', 'key_id', 'model', 'provider', 'status'] as const)
      : (['start_ms', 'model', 'provider', 'status'] as const);
  const rows = await requests.totals({ from_ms, to_ms, period, by });
  const told = Object.fromEntries(
    rows.map((row) => {
      const { calls, failed, estimated, fallbacks, prompt_tokens, completion_tokens } = row;
      const counts = { calls, failed, estimated, fallbacks, prompt_tokens, completion_tokens };
      return [by.map((name) => row[name]).join(' '), { ...counts, cost_nano: row.cost_nano }];
    }),
  );
  const wanted = summed(records, (record) => {
    const { account_id, key_id, model, provider, status, time_ms } = record;
    const start_ms = time_ms - (time_ms % length_ms);
    const names = { start_ms, account_id, key_id, model: model ?? '', provider: provider ?? '' };
    return by.map((name) => (name === 'status' ? status : names[name])).join(' ');
  });
  return [told, wanted];
}

/** What a scrape counts, and what it should count. */
export function counted(
  scrape: Scrape,
  records: readonly RequestRecord[],
): [told: Record<string, number>, wanted: Record<string, number>] {
  const told: Record<string, number> = {};
  for (const { name, labels, value } of scrape.samples) {
    const of = COUNTERS[name];
    if (of) told[`${name} ${of.map((label) => labels[label]).join(' ')}`] = rounded(value);
  }
  const wanted: Record<string, number> = {};
  const add = (name: string, more: number): void => {
    if (more > 0) wanted[name] = (wanted[name] ?? 0) + more;
  };
  for (const record of records) {
    const { endpoint, model, provider, status, code, cost_nano } = record;
    const names = [model ?? '', provider ?? ''].join(' ');
    add(`tollgate_requests_total ${endpoint} ${names} ${status} ${code ?? ''}`, 1);
    add(`tollgate_cost_dollars_total ${names}`, Number(cost_nano) / 1e9);
    add(`tollgate_tokens_total ${model ?? ''} prompt`, record.prompt_tokens ?? 0);
    add(`tollgate_tokens_total ${model ?? ''} completion`, record.completion_tokens ?? 0);
    for (const { provider: of, fault } of record.attempts) {
      add(`tollgate_upstream_attempts_total ${of} ${fault ?? 'none'}`, 1);
    }
  }
  for (const name of Object.keys(wanted)) wanted[name] = rounded(wanted[name] ?? 0);
  return [told, wanted];
}

const COUNTERS: Readonly<Record<string, readonly string[]>> = {
  tollgate_requests_total: ['endpoint', 'model', 'provider', 'status', 'code'],
  tollgate_cost_dollars_total: ['model', 'provider'],
  tollgate_tokens_total: ['model', 'class'],
  tollgate_upstream_attempts_total: ['provider', 'fault'],
};

/** Sums of floats in another order differ in their last digits; dollars have nine. */
function rounded(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}
