import type { RequestRecord } from '../../../src/core/request-record.js';
import { timeOf } from '../../../src/core/request-record.js';
import type { Store } from '../../../src/store/store-types.js';
import type { Ground } from '../helpers/ground.js';
import { requestId } from '../../../src/gateway/router.js';

/** A record of an answered call at that time. */
export function recordAt(time_ms: number, rest: Partial<RequestRecord> = {}): RequestRecord {
  const id = rest.id ?? requestId(time_ms);
  return {
    id,
    time_ms: timeOf(id),
    account_id: 'acc_1',
    key_id: 'key_1',
    agent: null,
    endpoint: 'chat',
    model: 'gpt-4o-mini',
    provider: 'openai',
    upstream_model: 'gpt-4o-mini-2024-07-18',
    attempts: [attempt(80)],
    status: 200,
    code: null,
    streamed: false,
    prompt_tokens: 9,
    completion_tokens: 5,
    cached_tokens: null,
    cache_write_tokens: null,
    cache_write_1h_tokens: null,
    audio_input_tokens: null,
    image_input_tokens: null,
    audio_output_tokens: null,
    image_output_tokens: null,
    reasoning_tokens: null,
    units: null,
    auth_ms: 1,
    read_ms: 3,
    hold_ms: 8,
    first_token_ms: null,
    took_ms: 100,
    own_ms: 20,
    cost_nano: 10n,
    uncollected_nano: 0n,
    upstream_cost_nano: null,
    saved_nano: 0n,
    lost_nano: 0n,
    flags: 0,
    is_kept: true,
    ...rest,
  };
}

function attempt(took_ms: number): RequestRecord['attempts'][number] {
  const [provider, model] = ['openai', 'gpt-4o-mini-2024-07-18'];
  return { provider, model, fault: null, status: null, codes: null, message: null, took_ms };
}

/**
 * Adds all records to the totals, and all entries to the usage. In PostgreSQL those wait for every older transaction of the
 * server, and other tests may run some.
 */
export async function rollUp({ place }: Pick<Ground, 'place'>, ...stores: Store[]): Promise<void> {
  const end = Date.now() + 60_000;
  const fresh = `select
    (select count(*) from requests where seq > (select upto from request_roll_up)) +
    (select count(*) from ledger where id > (select ledger_id from request_roll_up)) as count`;
  for (;;) {
    const more = await Promise.all(stores.map((store) => store.requests.rollUp()));
    if (more.some(Boolean)) continue;
    const [row] = await place.sql(fresh);
    if (Number(row?.count) === 0) return;
    if (Date.now() > end) throw new Error('Some records are not in the totals.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
