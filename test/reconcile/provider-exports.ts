import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { EXPORT_CLASSES, type ExportClass } from '../../src/core/provider-export.js';

/** A call as the provider counts and bills it. */
export interface BilledCall {
  at_ms: number;
  /** The model of `KINDS`. */
  model: string;
  tokens: Partial<Record<ExportClass, number>>;
}

/** Nano-dollars a million of each class of a model; at the provider they may rise on a day. */
export type Prices = Readonly<Record<string, Partial<Record<ExportClass, bigint>>>>;
export type PricesOn = (day: string) => Prices;

/** How a provider exports usage and costs of calls: writes the files, and returns their paths. */
export type WriteExport = (
  folder: string,
  calls: readonly BilledCall[],
  pricesOn: PricesOn,
) => string[];

interface Sum {
  day: string;
  model: string;
  calls: number;
  tokens: Partial<Record<ExportClass, number>>;
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** By day and model. */
function sumsOf(calls: readonly BilledCall[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const { at_ms, model, tokens } of calls) {
    const day = dayOf(at_ms);
    const sum = sums.get(`${day} ${model}`) ?? { day, model, calls: 0, tokens: {} };
    sums.set(`${day} ${model}`, sum);
    sum.calls += 1;
    for (const name of EXPORT_CLASSES) {
      const count = tokens[name];
      if (count !== undefined) sum.tokens[name] = (sum.tokens[name] ?? 0) + count;
    }
  }
  return [...sums.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}

/** Exact dollars with 15 decimals. */
function dollarsText(nano_per_million: bigint, tokens: number): string {
  const digits = String(nano_per_million * BigInt(tokens)).padStart(16, '0');
  return `${digits.slice(0, -15)}.${digits.slice(-15)}`;
}

interface Cost {
  day: string;
  model: string;
  name: ExportClass;
  tokens: number;
  dollars: string;
}

function costsOf(sums: readonly Sum[], pricesOn: PricesOn): Cost[] {
  return sums.flatMap(({ day, model, tokens }) =>
    EXPORT_CLASSES.flatMap((name) => {
      const count = tokens[name] ?? 0;
      const price = pricesOn(day)[model]?.[name] ?? 0n;
      if (count === 0) return [];
      return [{ day, model, name, tokens: count, dollars: dollarsText(price, count) }];
    }),
  );
}

const DAY_S = 86_400;

/** Pages of seven buckets, one a line. */
function pagesOf<Row extends { day: string }>(
  rows: readonly Row[],
  bucketOf: (day: string) => object,
  resultOf: (row: Row) => object,
): string {
  const days = [...new Set(rows.map(({ day }) => day))];
  const buckets = days.map((day) => ({
    ...bucketOf(day),
    results: rows.filter((row) => row.day === day).map(resultOf),
  }));
  const pages = [];
  for (let at = 0; at < buckets.length; at += 7) {
    const has_more = at + 7 < buckets.length;
    const next_page = has_more ? `page_${at}` : null;
    pages.push({ object: 'page', data: buckets.slice(at, at + 7), has_more, next_page });
  }
  return pages.map((page) => JSON.stringify(page)).join('\n');
}

const writer =
  (folder: string) =>
  (name: string, data: string | Buffer): string => {
    const file = join(folder, name);
    writeFileSync(file, data);
    return file;
  };

const OPENAI_ITEMS: Partial<Record<ExportClass, string>> = {
  input: 'input',
  cached_input: 'cached input',
  output: 'output',
};

export const writeOpenAi: WriteExport = (folder, calls, pricesOn) => {
  const write = writer(folder);
  const sums = sumsOf(calls);
  const bucketOf = (day: string) => {
    const start_time = Date.parse(day) / 1_000;
    return { object: 'bucket', start_time, end_time: start_time + DAY_S };
  };
  const usage = pagesOf(sums, bucketOf, ({ model, calls: num_model_requests, tokens }) => ({
    object: 'organization.usage.completions.result',
    input_tokens: (tokens.input ?? 0) + (tokens.cached_input ?? 0),
    output_tokens: tokens.output ?? 0,
    input_cached_tokens: tokens.cached_input ?? 0,
    input_audio_tokens: 0,
    output_audio_tokens: 0,
    num_model_requests,
    project_id: null,
    user_id: null,
    api_key_id: null,
    model: `${model}-2026-01-15`,
    batch: null,
  }));
  const costs = pagesOf(costsOf(sums, pricesOn), bucketOf, ({ model, name, dollars, tokens }) => ({
    object: 'organization.costs.result',
    amount: { value: Number(dollars), currency: 'usd' },
    line_item: `${model}-2026-01-15, ${OPENAI_ITEMS[name] ?? ''}`,
    project_id: null,
    quantity: tokens,
  }));
  return [write('openai-usage.json', usage), write('openai-costs.json', costs)];
};

const ANTHROPIC_TYPES: Partial<Record<ExportClass, string>> = {
  input: 'uncached_input_tokens',
  cached_input: 'cache_read_input_tokens',
  cache_write: 'cache_creation.ephemeral_5m_input_tokens',
  cache_write_1h: 'cache_creation.ephemeral_1h_input_tokens',
  output: 'output_tokens',
};

export const writeAnthropic: WriteExport = (folder, calls, pricesOn) => {
  const write = writer(folder);
  const sums = sumsOf(calls);
  const bucketOf = (day: string) => ({
    starting_at: `${day}T00:00:00Z`,
    ending_at: new Date(Date.parse(day) + DAY_S * 1_000).toISOString(),
  });
  const usage = pagesOf(sums, bucketOf, ({ model, tokens }) => ({
    uncached_input_tokens: tokens.input ?? 0,
    cache_creation: {
      ephemeral_1h_input_tokens: tokens.cache_write_1h ?? 0,
      ephemeral_5m_input_tokens: tokens.cache_write ?? 0,
    },
    cache_read_input_tokens: tokens.cached_input ?? 0,
    output_tokens: tokens.output ?? 0,
    server_tool_use: { web_search_requests: 0 },
    api_key_id: null,
    workspace_id: null,
    model,
    service_tier: 'standard',
    context_window: '0-200k',
  }));
  const costs = pagesOf(costsOf(sums, pricesOn), bucketOf, ({ model, name, dollars }) => ({
    currency: 'USD',
    amount: String(Number(dollars) * 100),
    workspace_id: null,
    description: `${model} Usage - ${name}`,
    cost_type: 'tokens',
    context_window: '0-200k',
    model,
    service_tier: 'standard',
    token_type: ANTHROPIC_TYPES[name],
  }));
  return [write('anthropic-usage.json', usage), write('anthropic-costs.json', costs)];
};

const GOOGLE_SIDES: Partial<Record<ExportClass, string>> = {
  input: 'GA Text Input - Predictions',
  cached_input: 'GA Text Input Caching',
  output: 'GA Text Output - Predictions',
};
const GOOGLE_NAMES: Readonly<Record<string, string>> = {
  'gemini-2.5-flash': 'Gemini 2.5 Flash',
  'gemini-2.5-flash-lite': 'Gemini 2.5 Flash Lite',
};

export const writeGoogle: WriteExport = (folder, calls, pricesOn) => {
  const rows = costsOf(sumsOf(calls), pricesOn).map(({ day, model, name, tokens, dollars }) => ({
    billing_account_id: '01ABCD-234567-89EFGH',
    service: { id: 'C7E2-9256-1C43', description: 'Vertex AI' },
    sku: { id: '0000-0000-0000', description: `${GOOGLE_NAMES[model]} ${GOOGLE_SIDES[name]}` },
    usage_start_time: `${day} 07:00:00 UTC`,
    usage_end_time: `${day} 08:00:00 UTC`,
    cost: Number(dollars),
    currency: 'USD',
    currency_conversion_rate: 1,
    usage: {
      amount: tokens,
      unit: 'count',
      amount_in_pricing_units: tokens,
      pricing_unit: 'count',
    },
    credits: [],
    cost_type: 'regular',
  }));
  const other = {
    ...rows[0],
    service: { id: '6F81-5844-456A', description: 'Compute Engine' },
    sku: { id: '1', description: 'N1 Predefined Instance Core' },
    cost: 99,
  };
  const text = [...rows, other].map((row) => JSON.stringify(row)).join('\n');
  return [writer(folder)('google.jsonl', text)];
};

const AWS_TYPES: Partial<Record<ExportClass, string>> = {
  input: 'input-tokens',
  cached_input: 'cache-read-input-token-count',
  cache_write: 'cache-write-input-token-count',
  output: 'output-tokens',
};
const AWS_NAMES: Readonly<Record<string, string>> = {
  'us.anthropic.claude-sonnet-4-5-20250929-v1:0': 'Claude4.5Sonnet',
  'amazon.nova-lite-v1:0': 'NovaLite',
};
const AWS_HEAD =
  'identity/LineItemId,lineItem/LineItemType,lineItem/UsageStartDate,lineItem/ProductCode,' +
  'lineItem/UsageType,lineItem/Operation,lineItem/ResourceId,lineItem/UsageAmount,' +
  'lineItem/UnblendedCost,lineItem/LineItemDescription,product/ProductName,pricing/unit';

export const writeAws: WriteExport = (folder, calls, pricesOn) => {
  const lines = costsOf(sumsOf(calls), pricesOn).map(({ day, model, name, tokens, dollars }, at) =>
    [
      `item${at}`,
      'Usage',
      `${day}T00:00:00Z`,
      'AmazonBedrock',
      `USE1-${AWS_NAMES[model]}-${AWS_TYPES[name]}`,
      'InvokeModelInference',
      '',
      (tokens / 1_000).toFixed(10),
      dollars.slice(0, -5),
      `"$0.00 per 1K ${name} tokens, on demand"`,
      'Amazon Bedrock',
      '1K tokens',
    ].join(','),
  );
  const other =
    'tax,Tax,2026-10-01T00:00:00Z,AmazonBedrock,USE1-Tax,,,1,77.00,Tax,Amazon Bedrock,\r\n' +
    'box,Usage,2026-10-01T00:00:00Z,AmazonEC2,BoxUsage:t3.micro,RunInstances,i-1,24,55.00,Box,EC2,Hrs';
  const text = `${[AWS_HEAD, ...lines, other].join('\r\n')}\r\n`;
  return [writer(folder)('aws.csv.gz', gzipSync(text))];
};

const AZURE_SIDES: Partial<Record<ExportClass, string>> = {
  input: 'Inp',
  cached_input: 'cached Inp',
  output: 'Outp',
};

export const writeAzure: WriteExport = (folder, calls, pricesOn) => {
  const head =
    'Date,MeterCategory,MeterSubCategory,MeterName,ProductName,ResourceGroup,UnitOfMeasure,' +
    'Quantity,CostInBillingCurrency,BillingCurrencyCode,ChargeType,Tags';
  const lines = costsOf(sumsOf(calls), pricesOn).map(({ day, model, name, tokens, dollars }) => {
    const [year, month, date] = day.split('-');
    return [
      `${month}/${date}/${year}`,
      'Foundry Models',
      'Azure OpenAI',
      `${model.replaceAll('-', ' ')} ${AZURE_SIDES[name] ?? ''} glbl Tokens`,
      `Azure OpenAI - ${model} - US East`,
      'models',
      '1K',
      tokens / 1_000,
      dollars,
      'USD',
      'Usage',
      '"""team"": ""a, b"""',
    ].join(',');
  });
  const others = [
    '10/01/2026,Storage,Standard HDD,Disk,Disk,models,1/Month,1,55.00,USD,Usage,',
    '10/01/2026,Foundry Models,Azure OpenAI,Provisioned Managed,PTU,models,1,1,77.00,USD,Purchase,',
  ];
  return [writer(folder)('azure.csv', `\uFEFF${[head, ...lines, ...others].join('\r\n')}\r\n`)];
};

export const writeOpenRouter: WriteExport = (folder, calls, pricesOn) => {
  const head =
    'generation_id,created_at,cost_total,cost_web_search,cost_cache,cost_file_processing,' +
    'byok_usage_inference,tokens_prompt,tokens_completion,tokens_reasoning,tokens_cached,' +
    'model_permaslug,provider_name,variant,cancelled,streamed,app_name';
  const lines = calls.map(({ at_ms, model, tokens }, at) => {
    const prices = pricesOn(dayOf(at_ms))[model] ?? {};
    const femto = EXPORT_CLASSES.reduce(
      (sum, name) => sum + (prices[name] ?? 0n) * BigInt(tokens[name] ?? 0),
      0n,
    );
    const { input = 0, cached_input = 0, output = 0 } = tokens;
    return [
      `gen-${at}`,
      new Date(at_ms).toISOString().replace('T', ' ').replace('Z', ''),
      dollarsText(femto, 1),
      '0',
      '0',
      '0',
      '0',
      input + cached_input,
      output,
      '0',
      cached_input,
      `${model}-20260120`,
      'DeepInfra',
      'standard',
      'false',
      'true',
      '"Agents, and others"',
    ].join(',');
  });
  return [writer(folder)('openrouter.csv', `${[head, ...lines].join('\n')}\n`)];
};
