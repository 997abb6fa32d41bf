import type { AuditQuery } from '../schema-types/audit-query.js';
import type { AuditEntry } from '../store/audit/audit-log.js';
import { invalid, listAction } from './action.js';
import { isNumber } from './cursor.js';
import { isoTime } from './shapes.js';

type AuditFilter = Pick<AuditQuery, 'account' | 'since'>;

export const listChanges = listAction({
  name: 'audit',
  schema: 'audit-query',
  fields: {
    account: {
      typed: '--account <account>',
      about: "only this account's, by name or id",
      type: 'account',
    },
  },
  rows({ store }, { account, since }: AuditFilter, page) {
    const { limit, after, since_ms = since === undefined ? undefined : timeOf(since) } = page;
    return store.audit.list({
      limit,
      ...(isNumber(after) && { before: after }),
      ...(account !== undefined && { account_id: account }),
      ...(since_ms !== undefined && { since_ms }),
    });
  },
  place: { of: ({ id }) => id, is: isNumber },
  routes: [
    {
      method: 'GET',
      path: '/api/audit',
      scope: 'audit:read',
      id: 'listChanges',
      summary: 'List changes and who made them, newest first, page by page',
      status: 200,
      answer: 'AuditPage',
    },
  ],
  shape: changeShape,
  csv: {
    file: 'audit.csv',
    columns: () => [
      'id',
      'time',
      'actor.kind',
      'actor.id',
      'actor.name',
      'action',
      'subject',
      'account',
      'before',
      'after',
      'request_id',
    ],
  },
  command: {
    about: 'show who changed what, newest first',
    example: 'tollgate audit --since 7d',
    rows: 100,
    document: changeColumns,
    async columns(entry, names) {
      const { account_id } = entry;
      const account = account_id && (await names.account(account_id));
      return { ...changeColumns(entry), account };
    },
    none: () => 'There is no such change.',
  },
});

function timeOf(since: string): number {
  const since_ms = Date.parse(since);
  if (!Number.isNaN(since_ms)) return since_ms;
  throw invalid('since', 'since must be a time such as 2026-11-01T00:00:00Z.');
}

export interface ChangeShape {
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

function changeShape({ actor, ...entry }: AuditEntry): ChangeShape {
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

function changeColumns(entry: AuditEntry) {
  const { id, time, actor, action, subject, account, before, after, request_id } =
    changeShape(entry);
  const by = actor.name ?? actor.id;
  const request = request_id;
  return { id, time, actor: actor.kind, by, action, subject, account, before, after, request };
}
