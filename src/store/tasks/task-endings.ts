import type { Knex } from 'knex';
import type { Actor } from '../../core/actor.js';
import { writeAudit } from '../audit/audit-log.js';
import { ledgerRow } from '../ledger/ledger-columns.js';
import { toBinding, toStorableText } from '../column-values.js';
import { endInWindows } from '../limits/hold-windows.js';
import { lockTask } from './task-rows.js';
import type { Task, TaskCharge } from './task-types.js';
import { StoreError } from '../store-error.js';

/** Releases the hold of a task. */
export async function endHold(
  trx: Knex.Transaction,
  task: Pick<Task, 'id' | 'account_id' | 'key_id' | 'hold_nano' | 'windows'>,
): Promise<void> {
  if (task.hold_nano === 0n) return;
  await trx('tasks').where({ id: task.id }).update({ hold_nano: 0 });
  await pay(trx, task, { spent_nano: 0n, freed_nano: task.hold_nano });
}

/**
 * Locks the key, and says whether the store counts its holds and spending. Without the lock, a
 * limit that is being set would miss them.
 */
export async function lockCounted(trx: Knex.Transaction, key_id: string): Promise<boolean> {
  const key: { limit_nano: bigint | null } | undefined = await trx('keys')
    .where({ id: key_id })
    .forUpdate()
    .first('limit_nano');
  return key !== undefined && key.limit_nano !== null;
}

/** Fails a task that has not ended. False if it has ended, or does not exist. */
export async function failTask(
  trx: Knex.Transaction,
  id: string,
  { error, due_ms, now_ms }: { error: string; due_ms: number; now_ms: number },
): Promise<boolean> {
  const task = await lockTask(trx, id);
  if (!task || task.status === 'COMPLETED' || task.status === 'FAILED') return false;
  await endHold(trx, task);
  await trx('tasks')
    .where({ id })
    .update({ status: 'FAILED', error: toStorableText(error), due_ms, updated_ms: now_ms })
    .increment('version');
  return true;
}

/** Fails a task because its client cancels it, and notes that in the audit log. */
export async function cancelTask(
  trx: Knex.Transaction,
  id: string,
  ending: { error: string; due_ms: number; now_ms: number },
  by: Actor,
): Promise<boolean> {
  if (!(await failTask(trx, id, ending))) return false;
  const task = await lockTask(trx, id);
  await writeAudit(trx, ending.now_ms, by, {
    action: 'task.cancel',
    subject: id,
    account_id: task?.account_id ?? null,
    before: null,
    after: { status: 'FAILED' },
  });
  return true;
}

/** Sets the content ID, writes the charge and ends the hold. A second call changes nothing. */
export async function chargeTask(
  trx: Knex.Transaction,
  id: string,
  charge: TaskCharge,
  now_ms: number,
): Promise<Task | undefined> {
  const { content_id, cost_nano } = charge;
  const task = await lockTask(trx, id);
  if (!task) return undefined;
  if (task.status !== 'COMPLETED') throw new StoreError(`The task ${id} is not completed.`);
  if (task.content_id !== null) return task;
  await trx('tasks')
    .where({ id })
    .update({ content_id, charge_nano: toBinding(cost_nano), hold_nano: 0, updated_ms: now_ms })
    .increment('version');
  const isCharged = cost_nano > 0n && (await enterCharge(trx, task, charge, now_ms));
  const spent_nano = isCharged ? cost_nano : 0n;
  await pay(trx, task, { spent_nano, freed_nano: task.hold_nano });
  return { ...task, content_id, charge_nano: cost_nano, hold_nano: 0n };
}

/** False if the ledger has the charge already, which its unique key decides. */
async function enterCharge(
  trx: Knex.Transaction,
  { id, account_id, key_id, model, provider, upstream_model }: Task,
  { cost_nano, upstream_cost_nano, usage, agent }: TaskCharge,
  now_ms: number,
): Promise<boolean> {
  const amount_nano = toBinding(-cost_nano);
  const head = {
    account_id,
    kind: 'charge',
    reference: id,
    amount_nano,
    created_ms: now_ms,
  } as const;
  const from = { key_id, model, provider, upstream_model, ...(agent && { agent }) };
  const charge = { ...from, usage, estimated: false, upstream_cost_nano };
  const rows: unknown[] = await trx('ledger')
    .insert(ledgerRow(head, charge))
    .onConflict(['account_id', 'kind', 'reference'])
    .ignore()
    .returning('id');
  return rows.length > 0;
}

/** Updates the key, the windows and the account in the order of the hot path: no deadlocks. */
async function pay(
  trx: Knex.Transaction,
  { account_id, key_id, windows }: Pick<Task, 'account_id' | 'key_id' | 'windows'>,
  { spent_nano, freed_nano }: { spent_nano: bigint; freed_nano: bigint },
): Promise<void> {
  if (spent_nano === 0n && freed_nano === 0n) return;
  const held_nano = trx.raw('held_nano - ?', [toBinding(freed_nano)]);
  if (await lockCounted(trx, key_id)) {
    await trx('keys')
      .where({ id: key_id })
      .update({ held_nano, spent_nano: trx.raw('spent_nano + ?', [toBinding(spent_nano)]) });
  }
  await endInWindows(trx, [{ windows, spent_nano, freed_nano }]);
  await trx('accounts')
    .where({ id: account_id })
    .update({
      held_nano,
      balance_nano: trx.raw('balance_nano - ?', [toBinding(spent_nano)]),
    });
}
