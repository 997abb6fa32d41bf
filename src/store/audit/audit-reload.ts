import type { Database } from '../database.js';
import { writeAudit } from './audit-log.js';

/** Equal reloads within this time are one reload, which several processes have noted. */
const SAME_MS = 60_000;
/** An arbitrary number, the same in every Tollgate on one PostgreSQL. */
const ADVISORY_LOCK = 7_012_019;

/** See `AuditStore.reloaded`. */
export async function auditReload(
  database: Database,
  now_ms: number,
  changes: readonly string[],
): Promise<void> {
  const after = { changes };
  await database.write(async (trx) => {
    if (database.dialect === 'postgres') {
      await trx.raw('select pg_advisory_xact_lock(?)', [ADVISORY_LOCK]);
    }
    const last: { after: string } | undefined = await trx('audit')
      .where('time_ms', '>', now_ms - SAME_MS)
      .where({ action: 'configuration.reload' })
      .orderBy('id', 'desc')
      .first('after');
    if (last?.after === JSON.stringify(after)) return;
    await writeAudit(trx, now_ms, undefined, {
      action: 'configuration.reload',
      subject: 'gateway.yaml',
      account_id: null,
      before: null,
      after,
    });
  });
}
