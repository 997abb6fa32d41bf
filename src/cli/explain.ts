import type { Command } from 'commander';
import type { SampleBill } from '../billing/sample-bill.js';
import { formatDuration } from '../gateway/config-units.js';
import type { Margin } from '../gateway/margins.js';
import type { Preview } from '../gateway/preview.js';
import { formatDollars, withDollarSign } from '../lib/money.js';
import { isAmount, priceShape, type PriceBlock, type PriceShape } from '../billing/price-shape.js';
import { nameHint } from '../yaml/did-you-mean.js';
import {
  modelNamed,
  namedModels,
  type Configuration,
  type EndpointEntry,
  type RateLimits,
  type StageEntry,
} from '../core/configuration.js';
import { isRecord } from '../lib/objects.js';
import type { ModelFacts } from '../schema-types/prices.js';
import type { Modality } from '../pipeline/modality.js';
import { formatOption } from '../pipeline/stage.js';
import { acting, command, UsageError, withConfig } from './command.js';
import { printJson, printLine } from './print.js';
import type { Rates } from '../core/limits.js';
import { costCard, publicName, type Model, type Upstream } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import { environmentOf } from './environment.js';
import { previewBody, printPreview, readBody } from './explain-body.js';

/** `tollgate explain MODEL [--body FILE|JSON]` */
export function explainCommand(): Command {
  return withConfig(
    command(
      'explain',
      'show what happens to a request for a model, and what it costs',
      'tollgate explain sim-chat',
    )
      .argument('<model>', 'its id')
      .option('--body <file|json>', 'also show what each upstream would be sent for this body')
      .option('--json', 'print one JSON document')
      .action(acting(explain)),
  );
}

interface Options {
  config: string;
  body?: string;
  json?: boolean;
}

async function explain(id: string, { config, json, body }: Options): Promise<void> {
  const client_body = body === undefined ? undefined : readBody(body);
  const { checkForProviders } = await import('../gateway/check.js');
  const { configuration } = await checkForProviders(config, environmentOf(config), (read) =>
    (modelNamed(read, id)?.upstreams ?? []).map(({ provider }) => provider.name),
  );
  const model = modelNamed(configuration, id);
  if (!model) {
    const hint = nameHint(id, namedModels(configuration).map(publicName));
    throw new UsageError(`there is no model "${id}"; ${hint}`);
  }
  const { MODALITIES } = await import('../modalities/index.js');
  const modalities = [...MODALITIES.values()].filter(({ name }) => model.capabilities.has(name));
  const endpoints = endpointsOf(modalities, configuration);
  const { margins, modelFacts } = await import('../gateway/margins.js');
  const explained: Explained = {
    model,
    aliases: [...configuration.aliases.values()].flatMap(({ id: own, alias }) =>
      own === model.id && alias !== undefined && alias !== id ? [alias] : [],
    ),
    endpoints,
    rates: { ...configuration.rates, ...(model.rates && { model: model.rates }) },
    margins: await margins(model.upstreams, configuration.directory),
    known: await modelFacts(model.upstreams, configuration.directory),
    defaults: modalities.map((modality) => ({
      modality: modality.name,
      defaults: {
        ...modality.documentation.defaults?.(model),
        ...shownDefaults(model.upstreams[0]?.default?.[modality.name]),
      },
    })),
    bills: await Promise.all(modalities.map(({ documentation }) => documentation.example(model))),
    preview: client_body && (await previewBody(client_body, model, configuration)),
  };
  if (json) return printJson(shapeOf(explained));
  if (model.alias !== undefined) printLine(`${id} is an alias of ${model.id}.`);
  if (explained.aliases.length > 0) {
    printLine(`${model.id} is also called ${explained.aliases.join(', ')}.`);
  }
  if (model.description !== undefined) printLine(model.description);
  printLine(`${model.id} does ${[...model.capabilities].join(', ')}; its owner is ${model.owner}.`);
  if (model.fallback) printLine(`Where it fails, ${model.fallback.join(', ')} serves.`);
  if (model.cache) printLine('Conversations whose client marks no cache get marks where it pays.');
  printEndpoints(endpoints);
  printRates(explained.rates);
  printUpstreams(explained);
  explained.defaults.forEach(printDefaults);
  explained.bills.forEach(printBill);
  if (explained.preview) printPreview(explained.preview);
}

function shownDefaults(fields: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  const shown = Object.entries(fields).map(([name, value]): [string, string] => {
    return [name, typeof value === 'string' ? value : JSON.stringify(value)];
  });
  return Object.fromEntries(shown);
}

interface Explained {
  model: Model;
  /** Its other names. */
  aliases: readonly string[];
  endpoints: readonly EndpointEntry[];
  rates: RateLimits & { model?: Rates };
  margins: readonly Margin[][];
  known: readonly (ModelFacts | null)[];
  defaults: readonly {
    modality: string;
    defaults: Readonly<Record<string, string | number | boolean>>;
  }[];
  bills: readonly SampleBill[];
  preview: Preview | undefined;
}

/** The endpoints that route to one of the modalities, or to its tasks. */
function endpointsOf(
  modalities: readonly Modality[],
  { endpoints }: Configuration,
): readonly EndpointEntry[] {
  const facts = modalities.flatMap(({ name, tasks }) => [
    `work:${name}`,
    ...Object.keys(tasks).map((task) => `task:${task}`),
  ]);
  return endpoints.filter(({ traits }) => traits?.gives.some((one) => facts.includes(one)));
}

function printEndpoints(endpoints: readonly EndpointEntry[]): void {
  printLine('\nIts endpoints');
  for (const { method, path, stages } of endpoints) {
    printLine(`  ${method} ${path}`);
    printLine(`    ${folded(stages.map(stageText), ' > ', '      ')}`);
  }
}

/** Those of gateway.yaml: the terms of a key or an account are in the store. */
function printRates(rates: Explained['rates']): void {
  const rows = RATE_LABELS.flatMap(([name, label]) => {
    const { [name]: own } = rates;
    return own ? [[label, ratesText(own)] as const] : [];
  });
  if (rows.length === 0) return;
  printLine('\nIts rates');
  const width = Math.max(...rows.map(([label]) => label.length));
  for (const [label, text] of rows) printLine(`  ${label.padEnd(width)}  ${text}`);
}

const RATE_LABELS = [
  ['key', 'each key'],
  ['account', 'each account'],
  ['model', 'this model'],
  ['all', 'all requests'],
] as const;

function ratesText({ requests_per_minute, tokens_per_minute, concurrent_requests }: Rates): string {
  const parts = [
    requests_per_minute === undefined ? [] : [`${requests_per_minute} requests a minute`],
    tokens_per_minute === undefined ? [] : [`${tokens_per_minute} tokens a minute`],
    concurrent_requests === undefined ? [] : [`${concurrent_requests} requests at once`],
  ];
  return parts.flat().join(', ');
}

const COLUMNS = 80;

/** Joins parts in lines of at most 80 columns. Each further line begins with `indent`. */
function folded(parts: readonly string[], separator: string, indent: string): string {
  let text = '';
  let room = COLUMNS - indent.length;
  for (const [at, part] of parts.entries()) {
    const needed = part.length + (at < parts.length - 1 ? separator.trimEnd().length : 0);
    const isFull = at > 0 && needed + separator.length > room;
    text += isFull
      ? `${separator.trimEnd()}\n${indent}${part}`
      : `${at > 0 ? separator : ''}${part}`;
    room = isFull ? COLUMNS - indent.length - part.length : room - part.length - separator.length;
  }
  return text;
}

function stageText({ name, option }: StageEntry): string {
  if (option === undefined || option === null) return name;
  if (typeof option === 'string') return `${name}: ${option}`;
  if (!isRecord(option)) return `${name}: ${formatOption(option)}`;
  const entries = Object.entries(option).map(([key, value]) => {
    return `${key}: ${typeof value === 'string' ? value : formatOption(value)}`;
  });
  return `${name}: { ${entries.join(', ')} }`;
}

function printUpstreams({ model: { upstreams }, margins, known }: Explained): void {
  printLine('\nIts upstreams, as they are tried; neighbours with a weight share the load');
  const shares = sharesOf(upstreams);
  upstreams.forEach((upstream, at) => {
    const { provider, model, weight } = upstream;
    const share = weight === undefined ? '' : `, weight ${weight}: ${shares[at]} % of the calls`;
    printLine(`  ${at + 1}. ${provider.name}: ${model}${share}`);
    const { timeout, retry } = termsShape(provider);
    const times = Object.entries(timeout).map(([phase, time]) => `${phase} ${time}`);
    printLine(`     timeout ${times.join(', ')}; retry attempts ${retry.attempts}`);
    const facts = factsText(known[at]);
    if (facts !== '') printLine(`     its model ${facts}`);
    const { price } = upstream;
    for (const line of priceLines(priceShape(price))) printLine(`     ${line}`);
    if (price.cost) {
      for (const line of priceLines(priceShape(price.cost))) printLine(`     it takes ${line}`);
    }
    for (const { unit, list, percent, date } of margins[at] ?? []) {
      const margin = percent === null ? 'free here' : `margin ${percent} %`;
      printLine(`     ${unit} ${margin}: the list price of ${date} is ${withDollarSign(list)}`);
    }
  });
}

/** What is known of a model, in words; empty where nothing is. */
function factsText(facts: ModelFacts | null | undefined): string {
  const { context, max_tokens, has = [], lacks = [], retires, gone } = facts ?? {};
  const parts = [
    context === undefined ? [] : `takes ${context} tokens in all`,
    max_tokens === undefined ? [] : `writes at most ${max_tokens}`,
    has.length > 0 ? `does ${has.join(', ')}` : [],
    lacks.length > 0 ? `lacks ${lacks.join(', ')}` : [],
    retires === undefined ? [] : `ends on ${retires}`,
    gone ? 'is said to be gone' : [],
  ];
  return parts.flat().join('; ');
}

/** How long its calls may take, and how often one that failed is sent again. */
function termsShape({ timeouts, retries = 0 }: Provider) {
  const phases = ['connect', 'first_byte', 'idle', 'total'] as const;
  const times = phases.map((phase) => [phase, formatDuration(timeouts[`${phase}_ms`])]);
  const timeout = Object.fromEntries(times) as Record<string, string>;
  return { timeout, retry: { attempts: retries } };
}

/**
 * The percentage of calls that go to each upstream first, within its group. A group is a run of
 * upstreams with weights; an upstream without a weight is a group of its own.
 */
function sharesOf(upstreams: readonly Upstream[]): number[] {
  return upstreams.map(({ weight }, at) => {
    if (weight === undefined) return 100;
    const before = upstreams.slice(0, at).findLastIndex((one) => one.weight === undefined);
    const after = upstreams.findIndex((one, i) => i > at && one.weight === undefined);
    const group = upstreams.slice(before + 1, after === -1 ? undefined : after);
    const sum = group.reduce((total, one) => total + (one.weight ?? 0), 0);
    return Number(((weight / sum) * 100).toPrecision(3));
  });
}

function printDefaults({ modality, defaults }: Explained['defaults'][number]): void {
  const entries = Object.entries(defaults);
  if (entries.length === 0) return;
  printLine(`\nIn ${modality}, what a client leaves out`);
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) printLine(`  ${name.padEnd(width)}  ${String(value)}`);
}

function priceLines(price: PriceShape): string[] {
  if (price === 'free') return ['free'];
  return Object.entries(price).flatMap(([unit, value]) => {
    if (typeof value === 'string') return `${unit} ${withDollarSign(value)}`;
    if (typeof value === 'number') return `${unit} ${value}`;
    const blocks = Array.isArray(value) ? value.filter((one) => typeof one !== 'string') : [value];
    return blocks.map((block) => `${unit} ${blockTexts(block).join(', ')}`);
  });
}

/** Each value of a block of a price, behind the names that lead there. */
function blockTexts(block: PriceBlock): string[] {
  return Object.entries(block).flatMap(([name, value]) => {
    if (Array.isArray(value)) {
      return `${name} [${value.filter((one) => typeof one === 'string').join(', ')}]`;
    }
    if (typeof value === 'object') return blockTexts(value).map((text) => `${name} ${text}`);
    return `${name} ${isAmount(name, value) ? withDollarSign(value) : value}`;
  });
}

function printBill({ request, held_nano, charges }: SampleBill): void {
  printLine(`\n${folded(`A worked bill for ${request}`.split(' '), ' ', '  ')}`);
  const rows: [string, bigint][] = [['held before it leaves', held_nano]];
  for (const { provider, cost_nano } of charges) {
    rows.push([`charged if ${provider} answers`, cost_nano]);
  }
  const width = Math.max(...rows.map(([label]) => label.length));
  for (const [label, nano] of rows) {
    printLine(`  ${label.padEnd(width)}  ${withDollarSign(formatDollars(nano))}`);
  }
}

function shapeOf({
  model,
  aliases,
  endpoints,
  rates,
  margins,
  known,
  defaults,
  bills,
  preview,
}: Explained): object {
  const shares = sharesOf(model.upstreams);
  return {
    model: model.id,
    ...(model.alias !== undefined && { alias: model.alias }),
    ...(aliases.length > 0 && { aliases }),
    ...(model.description !== undefined && { description: model.description }),
    ...(model.fallback && { fallback: model.fallback }),
    ...(model.cache && { cache: model.cache }),
    owner: model.owner,
    capabilities: [...model.capabilities],
    endpoints: endpoints.map(({ method, path, stages }) => ({
      at: `${method} ${path}`,
      stages: stages.map(stageText),
    })),
    rates,
    upstreams: model.upstreams.map((upstream, at) => ({
      provider: upstream.provider.name,
      model: upstream.model,
      weight: upstream.weight ?? null,
      share_percent: shares[at],
      price: priceShape(upstream.price),
      cost: priceShape(costCard(upstream.price)),
      margins: margins[at],
      known: known[at] ?? null,
      ...termsShape(upstream.provider),
    })),
    defaults: Object.fromEntries(defaults.map((one) => [one.modality, one.defaults])),
    bills: bills.map(({ request, held_nano, charges }) => ({
      request,
      held: formatDollars(held_nano),
      charges: charges.map(({ provider, cost_nano }) => ({
        provider,
        charge: formatDollars(cost_nano),
      })),
    })),
    ...(preview && { preview }),
  };
}
