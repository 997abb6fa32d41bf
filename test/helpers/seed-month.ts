import { FLAGS, type RequestRecord } from '../../src/core/request-record.js';
import type { TokenClass } from '../../src/core/usage.js';
import { recordAt } from '../store/requests/helpers.js';
import type { Store } from '../../src/store/store-types.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const DAYS = 30;

/** Whose clock is set by hand. */
export interface Clock {
  now_ms: number;
}

interface Kind {
  model: string;
  /** How many calls an ordinary day has. */
  calls: number;
  key: number;
  /** What one call uses and costs, larger for a larger share from 0 to 1. */
  call(share: number): {
    usage: object;
    classes?: Partial<Record<TokenClass, number>>;
    cost_nano: bigint;
  };
}

const KINDS: Kind[] = [
  { model: 'claude-sonnet-4-5', calls: 14, key: 0, call: tokens(6400, 1300, 3000n, 15_000n) },
  { model: 'gpt-4o-mini', calls: 31, key: 0, call: tokens(3900, 820, 150n, 600n) },
  { model: 'gemini-2.5-flash', calls: 21, key: 1, call: tokens(15_200, 700, 300n, 2500n) },
  { model: 'gpt-image-1', calls: 4, key: 1, call: images },
  { model: 'google/veo-3.1', calls: 0.4, key: 1, call: videos },
];

/** A month of calls, the same every time: fewer at the weekend, more towards the end. */
export async function seedMonth(
  store: Store,
  clock: Clock,
  account_id: string,
  key_ids: readonly string[],
): Promise<void> {
  const end_ms = clock.now_ms;
  const random = randomly(7);
  for (let back = DAYS - 1; back >= 0; back -= 1) {
    const charges = KINDS.flatMap((kind) => chargesOf(kind, end_ms - back * DAY_MS, back, random));
    charges.sort((a, b) => a.at_ms - b.at_ms);
    // The ledger has those of a day at its last one, so that they share a few transactions.
    clock.now_ms = Math.min(charges.at(-1)?.at_ms ?? end_ms, end_ms);
    const enter = async ({ at_ms, kind, share }: (typeof charges)[number]): Promise<void> => {
      const { usage, classes, cost_nano } = kind.call(share);
      const record = recordAt(Math.min(at_ms, end_ms), {
        account_id,
        key_id: key_ids[kind.key] ?? '',
        model: kind.model,
        provider: 'simulator',
        upstream_model: kind.model,
        prompt_tokens: null,
        completion_tokens: null,
        cost_nano,
        flags: share > 0.98 ? FLAGS.estimated : 0,
        took_ms: 300 + 4_000 * share ** 3,
        first_token_ms: 120 + 300 * share,
        streamed: true,
        ...usage,
        ...classes,
      });
      const { account_id: account, key_id, model } = record;
      const charge = {
        request_id: record.id,
        account_id: account,
        key_id,
        model: model ?? '',
        provider: 'simulator',
        cost_nano,
        estimated: share > 0.98,
        usage: JSON.stringify(usage),
        ...classes,
      };
      await store.charge(charge, undefined, record);
      if (share > 0.95) await store.requests.add([failureAt(record)]);
    };
    await Promise.all(charges.map(enter));
  }
  while (await store.requests.rollUp());
  clock.now_ms = end_ms;
}

/** A failure a second after that request, of the same kind. */
export function failureAt(record: RequestRecord): RequestRecord {
  const { account_id, key_id, model, provider, upstream_model } = record;
  const attempt = {
    provider: provider ?? '',
    model: upstream_model ?? '',
    fault: 'overloaded' as const,
    status: 529,
    codes: 'overloaded_error',
    message: 'The upstream is overloaded.',
    took_ms: 410,
  };
  return recordAt(record.time_ms + 1_000, {
    account_id,
    key_id,
    model,
    provider,
    upstream_model,
    attempts: [attempt],
    status: 502,
    code: 'upstream_error',
    prompt_tokens: null,
    completion_tokens: null,
    cost_nano: 0n,
    took_ms: 415,
    own_ms: 5,
  });
}

function chargesOf(
  kind: Kind,
  day_ms: number,
  back: number,
  random: () => number,
): { at_ms: number; kind: Kind; share: number }[] {
  const weekday = new Date(day_ms).getUTCDay();
  const isWeekend = weekday === 0 || weekday === 6;
  const growth = 0.55 + (DAYS - back) / DAYS;
  const wanted = kind.calls * growth * (isWeekend ? 0.3 : 1) * (0.7 + 0.6 * random());
  const count = Math.floor(wanted) + (random() < wanted % 1 ? 1 : 0);
  return Array.from({ length: count }, () => ({
    at_ms: Math.floor(day_ms - random() * 9 * HOUR_MS),
    kind,
    share: random(),
  }));
}

function tokens(input: number, output: number, input_nano: bigint, output_nano: bigint) {
  return (share: number) => {
    const prompt_tokens = Math.round(input * (0.3 + share * 1.4));
    const completion_tokens = Math.round(output * (0.2 + share * 1.6));
    const cost_nano = BigInt(prompt_tokens) * input_nano + BigInt(completion_tokens) * output_nano;
    const classes = {
      cached_tokens: Math.round(prompt_tokens * share),
      reasoning_tokens: Math.round(completion_tokens / 4),
    };
    return { usage: { prompt_tokens, completion_tokens }, classes, cost_nano };
  };
}

function images(share: number) {
  const count = share > 0.7 ? 2 : 1;
  const usage = { prompt_tokens: 18, completion_tokens: 0, images: count };
  return { usage, cost_nano: BigInt(count) * 40_000_000n };
}

function videos(share: number) {
  const video_seconds = share > 0.7 ? 4 : 2;
  const usage = { video_seconds, video_resolution: '720p', video_has_audio: false };
  return { usage, cost_nano: BigInt(video_seconds) * 200_000_000n };
}

/** Numbers from 0 to 1 that look random and are the same in every run. */
function randomly(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
