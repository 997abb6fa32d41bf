import type { Knex } from 'knex';
import { GATEWAY, type Actor } from '../../core/actor.js';
import { isPossible } from '../column-values.js';
import type { Database } from '../database.js';

/** A kind of change, by its name in the audit log. */
export type Action =
  | 'account.create'
  | 'account.credit'
  | 'account.edit'
  | 'account.refund'
  | 'account.resume'
  | 'account.suspend'
  | 'configuration.reload'
  | 'key.create'
  | 'key.edit'
  | 'key.revoke'
  | 'key.rotate'
  | 'provider.resume'
  | 'sign_in_link.create'
  | 'task.cancel'
  | 'token.create'
  | 'token.revoke';

export type Values = Readonly<Record<string, unknown>>;

/** A change that the audit log notes. */
export interface Change {
  action: Action;
  /**
   * The ID of what is changed: an account, a key, a token, a task, the charged request, or the name
   * of a provider.
   */
  subject: string;
  /** The account that the subject belongs to; null for a token. */
  account_id: string | null;
  /** The values before and after; null if there were none. Amounts are decimal dollars. */
  before: Values | null;
  after: Values | null;
}

/** A row of the audit log. */
export interface AuditEntry extends Change {
  id: number;
  time_ms: number;
  actor: Actor;
}

export interface AuditFilter {
  /** Only entries that are older than the one with this ID. */
  before?: number;
  /** Only entries from this time on. */
  since_ms?: number;
  account_id?: string;
  limit: number;
}

export interface AuditStore {
  /** Newest first. The log is kept for ever. */
  list(filter: AuditFilter): Promise<AuditEntry[]>;
  /**
   * Notes a reload of the configuration, with one sentence for each change. Processes that note the
   * same changes within a minute leave one row.
   */
  reloaded(changes: readonly string[]): Promise<void>;
}

interface AuditRow {
  id: bigint;
  time_ms: bigint;
  actor: Actor['kind'];
  actor_id: string | null;
  actor_name: string | null;
  action: Action;
  subject: string;
  account_id: string | null;
  before: string | null;
  after: string | null;
  request_id: string | null;
}

/** Writes a change into the log, in the transaction that makes it. */
export async function writeAudit(
  trx: Knex.Transaction,
  now_ms: number,
  actor: Actor | undefined,
  { action, subject, account_id, before, after }: Change,
): Promise<void> {
  const { kind, id, name, request_id } = actor ?? GATEWAY;
  await trx('audit').insert({
    time_ms: now_ms,
    actor: kind,
    actor_id: id,
    actor_name: name,
    action,
    subject,
    account_id,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
    request_id,
  });
}

/** Those of the values that an edit changes, before and after; undefined if it changes none. */
export function changedValues(
  before: Values,
  after: Values,
): Pick<Change, 'before' | 'after'> | undefined {
  const names = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (names.length === 0) return undefined;
  const pick = (values: Values) => Object.fromEntries(names.map((name) => [name, values[name]]));
  return { before: pick(before), after: pick(after) };
}

/** See `AuditStore.list`. */
export async function auditEntries(
  database: Database,
  { before, since_ms, account_id, limit }: AuditFilter,
): Promise<AuditEntry[]> {
  if (account_id !== undefined && !isPossible(account_id)) return [];
  const rows = await database.read<AuditRow[]>((knex) => {
    const query = knex('audit').orderBy('id', 'desc').limit(limit);
    if (before !== undefined) query.where('id', '<', before);
    if (since_ms !== undefined) query.where('time_ms', '>=', since_ms);
    if (account_id !== undefined) query.where({ account_id });
    return query;
  });
  return rows.map(toAuditEntry);
}

function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    id: Number(row.id),
    time_ms: Number(row.time_ms),
    actor: {
      kind: row.actor,
      id: row.actor_id,
      name: row.actor_name,
      request_id: row.request_id,
    },
    action: row.action,
    subject: row.subject,
    account_id: row.account_id,
    before: valuesIn(row.before),
    after: valuesIn(row.after),
  };
}

function valuesIn(column: string | null): Values | null {
  return column === null ? null : (JSON.parse(column) as Values);
}
