import type { Knex } from 'knex';
import type { Actor } from '../../core/actor.js';
import { writeAudit } from '../audit/audit-log.js';
import type { Database } from '../database.js';

/** A model at a provider. */
export interface UpstreamName {
  provider: string;
  model: string;
}

/** An upstream that failed and is left alone: it rests. Times are in ms since 1970. */
export interface Rest extends UpstreamName {
  /** The class of its last failure. */
  fault: string;
  /** How often it failed in a row, from one probe to the next. */
  failures: number;
  since_ms: number;
  /** From then on one call at a time may probe it. */
  until_ms: number;
  /** When it said that it may be called again; 0 if it did not say. */
  told_until_ms: number;
  /** Until then no other call may probe it; 0 without a probe. */
  probe_until_ms: number;
}

/** An upstream has failed or is probed (`sets_probe`), or it answers again. */
export type RestChange =
  | { is_over: false; rest: Rest; sets_probe: boolean }
  | { is_over: true; upstream: UpstreamName };

/** `taken`: another probes the upstream, or it rests for longer. `over`: it does not rest. */
export type Claim = 'claimed' | 'taken' | 'over';

/** The upstreams that rest, which all processes share. */
export interface RestStore {
  list(): Promise<Rest[]>;
  /** Writes changes, and resolves with all that rest then. */
  exchange(changes: readonly RestChange[]): Promise<Rest[]>;
  /** `claimed` for the one caller that may probe the upstream until `probe_until_ms`. */
  claim(rest: Rest, now_ms: number): Promise<Claim>;
  /** Forgets the failures of a provider. Resolves with the upstreams that rested. */
  resume(provider: string, by?: Actor): Promise<Rest[]>;
  /** Deletes what nobody has called for long. */
  sweep(): Promise<void>;
}

type RestRow = UpstreamName & { fault: string } & Record<
    'failures' | 'since_ms' | 'until_ms' | 'told_until_ms' | 'probe_until_ms',
    bigint
  >;

const KEY = ['provider', 'model'] as const;
/** Nobody has called the upstream for this long after its rest. */
const FORGET_MS = 3_600_000;

export async function createRests(trx: Knex): Promise<void> {
  await trx.schema.createTable('rests', (table) => {
    table.text('provider').notNullable();
    table.text('model').notNullable();
    table.text('fault').notNullable();
    for (const name of ['failures', 'since_ms', 'until_ms', 'told_until_ms', 'probe_until_ms'])
      table.bigInteger(name).notNullable();
    table.primary([...KEY]);
  });
}

export function openRests(database: Database, now: () => number): RestStore {
  return {
    list: () => database.read(listRests),
    exchange: (changes) => {
      if (changes.length === 0) return database.read(listRests);
      return database.write(async (trx) => {
        for (const change of changes) await writeChange(trx, change);
        return listRests(trx);
      });
    },
    claim: (rest, now_ms) => database.write((trx) => claimProbe(trx, rest, now_ms)),
    resume: (provider, by) => database.write((trx) => resumeProvider(trx, now(), provider, by)),
    sweep: () =>
      database.write(async (trx) => {
        await trx('rests')
          .where('until_ms', '<', now() - FORGET_MS)
          .delete();
      }),
  };
}

async function listRests(knex: Knex): Promise<Rest[]> {
  const rows: RestRow[] = await knex('rests')
    .orderBy([...KEY])
    .select();
  return rows.map((row) => ({
    provider: row.provider,
    model: row.model,
    fault: row.fault,
    failures: Number(row.failures),
    since_ms: Number(row.since_ms),
    until_ms: Number(row.until_ms),
    told_until_ms: Number(row.told_until_ms),
    probe_until_ms: Number(row.probe_until_ms),
  }));
}

/** Of the failures that several processes saw, the longest rest counts. */
async function writeChange(trx: Knex.Transaction, change: RestChange): Promise<void> {
  if (change.is_over) {
    const { provider, model } = change.upstream;
    await trx('rests').where({ provider, model }).delete();
    return;
  }
  const later = (name: 'failures' | 'until_ms' | 'told_until_ms') =>
    trx.raw(`case when excluded.${name} > rests.${name} then excluded.${name}
      else rests.${name} end`);
  await trx('rests')
    .insert(change.rest)
    .onConflict([...KEY])
    .merge({
      fault: change.rest.fault,
      failures: later('failures'),
      until_ms: later('until_ms'),
      told_until_ms: later('told_until_ms'),
      ...(change.sets_probe && { probe_until_ms: change.rest.probe_until_ms }),
    });
}

async function claimProbe(trx: Knex.Transaction, rest: Rest, now_ms: number): Promise<Claim> {
  const { provider, model, probe_until_ms } = rest;
  const claimed = await trx('rests')
    .where({ provider, model })
    .where('until_ms', '<=', now_ms)
    .where('probe_until_ms', '<=', now_ms)
    .update({ probe_until_ms });
  if (claimed > 0) return 'claimed';
  const row: unknown = await trx('rests').where({ provider, model }).first('provider');
  return row ? 'taken' : 'over';
}

async function resumeProvider(
  trx: Knex.Transaction,
  now_ms: number,
  provider: string,
  by: Actor | undefined,
): Promise<Rest[]> {
  const rests = (await listRests(trx)).filter((one) => one.provider === provider);
  if (rests.length === 0) return rests;
  await trx('rests').where({ provider }).delete();
  await writeAudit(trx, now_ms, by, {
    action: 'provider.resume',
    subject: provider,
    account_id: null,
    before: { resting: rests.map(({ model }) => model) },
    after: { resting: [] },
  });
  return rests;
}
