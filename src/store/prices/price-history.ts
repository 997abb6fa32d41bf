import type { Knex } from 'knex';
import {
  TOKEN_UNITS,
  type LongPromptPrices,
  type OffPeakPrices,
  type Price,
  type TierPrices,
  type TokenPrices,
} from '../../core/model.js';
import { isPossible } from '../column-values.js';
import type { Database } from '../database.js';

/** An upstream of a model, by the names that records of requests have. */
export interface PricedUpstream {
  model: string;
  provider: string;
  upstream_model: string;
}

/** The prices of tokens at an upstream. */
export interface PriceEntry extends PricedUpstream {
  price: Price;
}

/** The prices of tokens over time, by which an old charge can be checked. */
export interface PriceHistory {
  /** Adds the prices of tokens that have changed since the last call. */
  note(entries: readonly PriceEntry[]): Promise<void>;
  /** The prices around that time, the likeliest first: a new price is noted a little late. */
  about(upstream: PricedUpstream, time_ms: number): Promise<Price[]>;
}

type PriceTexts = Partial<Record<keyof TokenPrices, string>>;

type NotedTier = PriceTexts & { long_prompt?: PriceTexts & { above_tokens: number } };

type Hours = Pick<OffPeakPrices, 'days' | 'from_minute' | 'to_minute' | 'zone'>;

/** A price as its row has it. */
type NotedPrice = NotedTier & {
  tiers?: Record<string, NotedTier>;
  off_peak?: (PriceTexts & Hours)[];
  per_tool_call?: Record<string, string>;
  per_request?: string;
};

interface PriceRow extends PricedUpstream {
  since_ms: bigint;
  price: string;
}

/** How many prices before the time are read: a request in flight keeps the price it began with. */
const BEFORE = 2;
const KEY = ['model', 'provider', 'upstream_model'] as const;
const FIELDS = Object.values(TOKEN_UNITS);

export async function createPriceHistory(trx: Knex): Promise<void> {
  await trx.schema.createTable('request_prices', (table) => {
    for (const name of KEY) table.text(name).notNullable();
    table.bigInteger('since_ms').notNullable();
    table.text('price').notNullable();
    table.primary([...KEY, 'since_ms']);
  });
}

export function openPriceHistory(database: Database, now: () => number): PriceHistory {
  return {
    note: (entries) => note(database, entries, now()),
    about: (upstream, time_ms) => about(database, upstream, time_ms),
  };
}

async function note(
  database: Database,
  entries: readonly PriceEntry[],
  since_ms: number,
): Promise<void> {
  const rows = await database.read<PriceRow[]>((knex) =>
    knex('request_prices').orderBy('since_ms').select(),
  );
  const last = new Map(rows.map((row) => [nameOfUpstream(row), row.price]));
  const changed = new Map(
    entries
      .map(({ price, ...upstream }) => ({ ...keyOf(upstream), price: textOfPrice(price) }))
      .filter((entry) => last.get(nameOfUpstream(entry)) !== entry.price)
      .map((entry) => [nameOfUpstream(entry), { ...entry, since_ms }]),
  );
  if (changed.size === 0) return;
  await database.write(async (trx) => {
    for (const entry of changed.values()) {
      await trx('request_prices')
        .insert(entry)
        .onConflict([...KEY, 'since_ms'])
        .ignore();
    }
  });
}

async function about(
  database: Database,
  upstream: PricedUpstream,
  time_ms: number,
): Promise<Price[]> {
  const key = keyOf(upstream);
  if (!KEY.every((name) => isPossible(key[name]))) return [];
  const [before, after] = await Promise.all([
    database.read<PriceRow[]>((knex) =>
      knex('request_prices')
        .where(key)
        .where('since_ms', '<=', time_ms)
        .orderBy('since_ms', 'desc')
        .limit(BEFORE),
    ),
    database.read<PriceRow[]>((knex) =>
      knex('request_prices')
        .where(key)
        .where('since_ms', '>', time_ms)
        .orderBy('since_ms')
        .limit(1),
    ),
  ]);
  return [...before, ...after].map(({ price }) => priceOf(price));
}

function keyOf({ model, provider, upstream_model }: PricedUpstream): PricedUpstream {
  return { model, provider, upstream_model };
}

function nameOfUpstream(upstream: PricedUpstream): string {
  return JSON.stringify(KEY.map((name) => upstream[name]));
}

/** The prices of calls as JSON, in nano-dollars. */
function textOfPrice(price: Price): string {
  const { tiers, off_peak, per_tool_call, per_request } = price;
  const noted: NotedPrice = tierTexts(price);
  if (tiers) {
    const entries = [...tiers].map(([name, tier]) => [name, tierTexts(tier)] as const);
    noted.tiers = Object.fromEntries(entries);
  }
  if (off_peak) {
    noted.off_peak = off_peak.map((block) => ({ ...hoursIn(block), ...textsOf(block) }));
  }
  if (per_tool_call) {
    const entries = [...per_tool_call].map(([name, nano]) => [name, String(nano)] as const);
    noted.per_tool_call = Object.fromEntries(entries);
  }
  if (per_request !== undefined) noted.per_request = String(per_request);
  return JSON.stringify(noted);
}

function hoursIn({ days, from_minute, to_minute, zone }: Hours): Hours {
  return { ...(days && { days }), from_minute, to_minute, zone };
}

function tierTexts({ long_prompt, ...tier }: TierPrices): NotedTier {
  if (!long_prompt) return textsOf(tier);
  const { above_tokens } = long_prompt;
  return { ...textsOf(tier), long_prompt: { above_tokens, ...textsOf(long_prompt) } };
}

function textsOf(prices: Partial<TokenPrices>): PriceTexts {
  const fields = FIELDS.flatMap((name) => {
    const nano = prices[name];
    return nano === undefined ? [] : [[name, String(nano)]];
  });
  return Object.fromEntries(fields) as PriceTexts;
}

function priceOf(text: string): Price {
  const noted = JSON.parse(text) as NotedPrice;
  const { tiers, off_peak, per_tool_call, per_request } = noted;
  const price: Price = {
    free: false,
    input_nano_per_million: 0n,
    output_nano_per_million: 0n,
    ...tierOf(noted),
  };
  if (tiers) {
    price.tiers = new Map(Object.entries(tiers).map(([name, tier]) => [name, tierOf(tier)]));
  }
  if (off_peak) {
    price.off_peak = off_peak.map((block) => ({ ...hoursIn(block), ...nanosOf(block) }));
  }
  if (per_tool_call) {
    const entries = Object.entries(per_tool_call);
    price.per_tool_call = new Map(entries.map(([name, nano]) => [name, BigInt(nano)]));
  }
  if (per_request !== undefined) price.per_request = BigInt(per_request);
  return price;
}

function tierOf({ long_prompt: long, ...texts }: NotedTier): TierPrices {
  if (!long) return nanosOf(texts);
  const long_prompt: LongPromptPrices = { ...nanosOf(long), above_tokens: long.above_tokens };
  return { ...nanosOf(texts), long_prompt };
}

function nanosOf(texts: PriceTexts): Partial<TokenPrices> {
  const fields = FIELDS.flatMap((name) => {
    const nano = texts[name];
    return nano === undefined ? [] : [[name, BigInt(nano)]];
  });
  return Object.fromEntries(fields) as Partial<TokenPrices>;
}
