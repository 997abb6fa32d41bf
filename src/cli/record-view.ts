import type { RequestRecord } from '../core/request-record.js';
import { requestShape } from '../dashboard/views/request-shapes.js';
import { formatDollars } from '../lib/money.js';
import { time } from './print.js';

/** A record as a row of a table. */
export function recordRow(record: RequestRecord, account: string) {
  return {
    time: time(record.time_ms),
    status: record.status,
    model: record.model,
    provider: record.provider,
    in: record.prompt_tokens,
    out: record.completion_tokens,
    took_ms: Math.round(record.took_ms),
    cost: formatDollars(record.cost_nano),
    code: record.code,
    account,
    id: record.id,
  };
}

/** A record as the management API shows it to operators, with the times of its stages. */
export function recordView(record: RequestRecord) {
  const { auth_ms, read_ms, hold_ms } = record;
  return { ...requestShape(record, true), auth_ms, read_ms, hold_ms };
}
