import { flagsOf, type RequestRecord } from '../core/request-record.js';
import { TOKEN_CLASSES } from '../core/usage.js';
import { formatDollars } from '../lib/money.js';
import { profitOfOne } from '../actions/profit-shapes.js';
import { formatTime } from './print.js';

/** A record as a row of a table. */
export function recordRow(record: RequestRecord, account: string) {
  return {
    time: formatTime(record.time_ms),
    status: record.status,
    model: record.model,
    agent: record.agent,
    upstream: record.provider,
    in: record.prompt_tokens,
    out: record.completion_tokens,
    took_ms: Math.round(record.took_ms),
    cost: formatDollars(record.cost_nano),
    code: record.code,
    account,
    id: record.id,
  };
}

/** All that is known of a request, for programs. Dollars are decimal strings. */
export function recordView(record: RequestRecord) {
  const { attempts, units, auth_ms, read_ms, hold_ms, first_token_ms, took_ms, own_ms } = record;
  const { cost: upstream_cost, profit } = profitOfOne(record.cost_nano, record.upstream_cost_nano);
  const classes = TOKEN_CLASSES.map((name) => [name, record[name]] as const);
  return {
    id: record.id,
    time: formatTime(record.time_ms),
    account: record.account_id,
    key: record.key_id,
    agent: record.agent,
    endpoint: record.endpoint,
    model: record.model,
    upstream: record.provider,
    upstream_model: record.upstream_model,
    status: record.status,
    code: record.code,
    streamed: record.streamed,
    prompt_tokens: record.prompt_tokens,
    completion_tokens: record.completion_tokens,
    ...Object.fromEntries(classes.filter(([, tokens]) => tokens !== null)),
    units,
    auth_ms,
    read_ms,
    hold_ms,
    first_token_ms,
    took_ms,
    own_ms,
    cost: formatDollars(record.cost_nano),
    uncollected: formatDollars(record.uncollected_nano),
    upstream_cost,
    profit,
    saved: formatDollars(record.saved_nano),
    lost: formatDollars(record.lost_nano),
    flags: flagsOf(record),
    attempts,
  };
}
