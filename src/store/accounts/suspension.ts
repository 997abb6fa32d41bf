import type { Actor } from '../../core/actor.js';
import { writeAudit } from '../audit/audit-log.js';
import type { Database } from '../database.js';
import { lockAccount, type Account } from './accounts.js';

/** See `Store.suspend`. */
export async function suspend(
  database: Database,
  now_ms: number,
  account_id: string,
  by?: Actor,
): Promise<boolean> {
  return change(database, now_ms, { account_id, suspended_ms: now_ms, action: 'suspend' }, by);
}

/** See `Store.resume`. */
export async function resume(
  database: Database,
  now_ms: number,
  account_id: string,
  by?: Actor,
): Promise<boolean> {
  return change(database, now_ms, { account_id, suspended_ms: null, action: 'resume' }, by);
}

interface Suspension {
  account_id: string;
  suspended_ms: number | null;
  action: 'suspend' | 'resume';
}

function change(
  database: Database,
  now_ms: number,
  { account_id, suspended_ms, action }: Suspension,
  by?: Actor,
): Promise<boolean> {
  return database.write(async (trx) => {
    const before = await lockAccount(trx, account_id);
    if (isSuspended(before) === (action === 'suspend')) return false;
    await trx('accounts').where({ id: account_id }).update({ suspended_ms });
    await writeAudit(trx, now_ms, by, {
      action: `account.${action}`,
      subject: account_id,
      account_id,
      before: { suspended: isSuspended(before) },
      after: { suspended: suspended_ms !== null },
    });
    return true;
  });
}

export function isSuspended({ suspended_ms }: Account): boolean {
  return suspended_ms !== null;
}
