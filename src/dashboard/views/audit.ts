import { GatewayError } from '../../core/errors.js';
import type { AuditQuery } from '../../schema-types/audit-query.js';
import type { AuditEntry } from '../../store/audit/audit-log.js';
import type { DashboardServices } from '../types.js';
import { isNumber, pageOf, readCursor } from './cursor.js';
import { isoTime } from './shapes.js';

const DEFAULT_LIMIT = 50;

/** A page of the audit log, newest first. Throws `GatewayError` (400) for an invalid time. */
export async function auditPage(
  { store }: DashboardServices,
  { cursor, limit = DEFAULT_LIMIT, account, since }: AuditQuery,
): Promise<{ rows: readonly AuditEntry[]; next_cursor: string | null }> {
  const since_ms = since === undefined ? undefined : timeOf(since);
  const entries = await store.audit.list({
    limit: limit + 1,
    ...(cursor !== undefined && { before: readCursor(cursor, isNumber) }),
    ...(account !== undefined && { account_id: account }),
    ...(since_ms !== undefined && { since_ms }),
  });
  return pageOf(entries, limit, ({ id }) => id);
}

function timeOf(since: string): number {
  const since_ms = Date.parse(since);
  if (!Number.isNaN(since_ms)) return since_ms;
  const message = 'since must be a time such as 2026-11-01T00:00:00Z.';
  throw new GatewayError('invalid_request', message, { param: 'since' });
}

export interface AuditShape {
  id: number;
  time: string;
  actor: Omit<AuditEntry['actor'], 'request_id'>;
  action: AuditEntry['action'];
  subject: string;
  account: string | null;
  before: AuditEntry['before'];
  after: AuditEntry['after'];
  request_id: string | null;
}

export function auditShape({ actor, ...entry }: AuditEntry): AuditShape {
  const { kind, id, name, request_id } = actor;
  return {
    id: entry.id,
    time: isoTime(entry.time_ms),
    actor: { kind, id, name },
    action: entry.action,
    subject: entry.subject,
    account: entry.account_id,
    before: entry.before,
    after: entry.after,
    request_id,
  };
}
