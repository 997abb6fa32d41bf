import { flagsOf, type RequestFlag, type RequestRecord } from '../core/request-record.js';
import type { UpstreamAttempt } from '../core/request-record.js';
import { TOKEN_CLASSES, type TokenClass } from '../core/usage.js';
import { formatDollars } from '../lib/money.js';
import { profitOfOne } from './profit-shapes.js';
import { isoTime } from './shapes.js';

/** An attempt. Only operators see which upstream it was. */
export type AttemptShape = Omit<UpstreamAttempt, 'provider' | 'model' | 'began_ms'> &
  Partial<Pick<UpstreamAttempt, 'provider' | 'model'>> & { began_ms: number | null };

/** A request without any of its content. Dollars in decimals, times in ms. */
export interface RequestShape extends Record<TokenClass, number | null> {
  id: string;
  time: string;
  account: string;
  key: string;
  agent: string | null;
  endpoint: string;
  model: string | null;
  /** With `upstream_model`, for operators only. */
  provider?: string | null;
  upstream_model?: string | null;
  status: number;
  code: string | null;
  streamed: boolean;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  units: RequestRecord['units'];
  first_token_ms: number | null;
  took_ms: number;
  own_ms: number;
  cost: string;
  uncollected: string;
  /** With `profit`, for operators only; null where it is not known. */
  upstream_cost?: string | null;
  profit?: string | null;
  saved: string;
  lost: string;
  flags: RequestFlag[];
  attempts: AttemptShape[];
}

/** A request. With `names_upstreams` it has what is for operators only. */
export function requestShape(record: RequestRecord, names_upstreams: boolean): RequestShape {
  const { provider, upstream_model, cost_nano, upstream_cost_nano } = record;
  const { cost: upstream_cost, profit } = profitOfOne(cost_nano, upstream_cost_nano);
  const classes = TOKEN_CLASSES.map((name) => [name, record[name]] as const);
  return {
    id: record.id,
    time: isoTime(record.time_ms),
    account: record.account_id,
    key: record.key_id,
    agent: record.agent,
    endpoint: record.endpoint,
    model: record.model,
    ...(names_upstreams && { provider, upstream_model }),
    status: record.status,
    code: record.code,
    streamed: record.streamed,
    prompt_tokens: record.prompt_tokens,
    completion_tokens: record.completion_tokens,
    ...(Object.fromEntries(classes) as Record<TokenClass, number | null>),
    units: record.units,
    first_token_ms: record.first_token_ms,
    took_ms: record.took_ms,
    own_ms: record.own_ms,
    cost: formatDollars(cost_nano),
    uncollected: formatDollars(record.uncollected_nano),
    ...(names_upstreams && { upstream_cost, profit }),
    saved: formatDollars(record.saved_nano),
    lost: formatDollars(record.lost_nano),
    flags: flagsOf(record),
    attempts: record.attempts.map((attempt) => attemptShape(attempt, names_upstreams)),
  };
}

function attemptShape(
  { provider, model, fault, status, codes, message, began_ms, took_ms }: UpstreamAttempt,
  names_upstreams: boolean,
): AttemptShape {
  const upstream = names_upstreams ? { provider, model } : {};
  return { ...upstream, fault, status, codes, message, began_ms: began_ms ?? null, took_ms };
}
