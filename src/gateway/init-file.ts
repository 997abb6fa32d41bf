import { isRecord } from '../lib/objects.js';
import type { PlannedModel, PlannedProvider } from './init-plan.js';

export interface InitFile {
  /** The path of the schema of gateway.yaml, relative to the file; undefined if it is elsewhere. */
  schema: string | undefined;
  /** `2026-11-23`. */
  date: string;
  port: number;
  /** A provider without models is written as a comment. */
  providers: readonly PlannedProvider[];
}

/** An upstream of a planned model. */
interface Entry {
  provider: PlannedProvider;
  model: PlannedModel;
  upstreams: { provider: string; model?: string }[];
}

/** The text of a first gateway.yaml. It holds no secret, only names of variables. */
export function initFile({ schema, date, port, providers }: InitFile): string {
  const served = providers.filter(({ models }) => models.length > 0);
  const idle = providers.filter(({ models }) => models.length === 0);
  const entries = entriesOf(served);
  const owners = new Set([...entries.values()].map(({ provider }) => provider));
  return [
    ...(schema === undefined ? [] : [`# yaml-language-server: $schema=${schema}`, '#']),
    ...head(date, port),
    "owners: # whose models these are: `owned_by` in the list of models, a client's menu",
    ...[...owners].map(({ name, title }) => `  ${word(name)}: { name: ${word(title)} }`),
    '',
    'providers: # accounts at upstreams; ${NAME} comes from the environment, or from .env',
    ...served.map(providerLine),
    ...idle.map((provider) => `  #${providerLine(provider).slice(1)}`),
    '',
    'models: # what clients may ask for, by the names that they use',
    ...[...entries].flatMap(([id, entry]) => modelLines(id, entry)),
    ...omittedLines(served),
    ...idleLines(idle),
    '',
    '# All endpoints that ship are served. `npx tollgate explain MODEL` shows those of a model,',
    '# the stages that a request walks through, and a worked bill.',
    '',
  ].join('\n');
}

function head(date: string, port: number): string[] {
  return [
    `# Written by \`tollgate init\` on ${date}, and yours from now on. \`tollgate check\` finds`,
    '# every fault before it is served. A running gateway takes up a changed file by itself, and',
    '# keeps the older one if the new one is not valid.',
    '',
    `listen: 127.0.0.1:${port} # this machine alone; for others put a proxy with TLS in front`,
    `public_url: http://127.0.0.1:${port} # how the world sees it; sign-in links begin with it`,
    'store: sqlite:data/tollgate.db # or postgres://user:password@host/database',
    '',
    '# The first start makes this account if there is none, and prints a key and a sign-in link.',
    'first_start: { account: demo, credit: 10.00 } # dollars to spend here, paid by nobody',
    '',
    'limits:',
    '  default_max_tokens: 8192 # for clients that name no limit; the hold before a call counts it',
    '',
  ];
}

function providerLine({ name, uses, title, entry, base_url, models }: PlannedProvider): string {
  const keys = [...(name === uses ? [] : [['uses', uses] as const]), ...entry];
  const place = base_url === null ? title : `${title} at ${base_url}`;
  const remark = models.length > 0 ? place : `${title}: no price is known here`;
  return `  ${word(name)}: ${flow(Object.fromEntries(keys))} # ${remark}`;
}

/**
 * The models by the ID that clients use. Two local servers with the same model are two upstreams of
 * one entry. A second model of that name at another provider gets the provider's name as a prefix.
 */
function entriesOf(providers: readonly PlannedProvider[]): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const provider of providers) {
    for (const model of provider.models) {
      const first = entries.get(model.id);
      const own = { provider: provider.name };
      if (!first) entries.set(model.id, { provider, model, upstreams: [own] });
      else if (first.model.price === 'free' && model.price === 'free') first.upstreams.push(own);
      else {
        const upstreams = [{ ...own, model: model.id }];
        entries.set(`${provider.name}/${model.id}`, { provider, model, upstreams });
      }
    }
  }
  return entries;
}

function modelLines(id: string, { provider, model, upstreams }: Entry): string[] {
  const { capabilities, limits, limits_note, price, price_note } = model;
  const isLocal = provider.base_url !== null;
  const note = isLocal && capabilities.includes('chat') ? ' # add vision if it sees images' : '';
  return [
    `  ${word(id)}:`,
    `    owner: ${word(provider.name)}`,
    `    capabilities: ${flow(capabilities)}${note}`,
    `    upstreams: ${flow(upstreams)}`,
    ...(Object.keys(limits).length === 0 ? [] : pairLines('limits', limits, limits_note)),
    ...pairLines('price', price, price_note),
  ];
}

const LINE_CHARACTERS = 100;

/** Formats the pair on one line, or as a block if the line would be too long. */
function pairLines(key: string, value: unknown, note: string): string[] {
  const remark = note === '' ? '' : ` # ${note}`;
  const line = `    ${key}: ${flow(value, key === 'price')}${remark}`;
  if (line.length <= LINE_CHARACTERS || !isRecord(value)) return [line];
  const lines = Object.entries(value).flatMap(([name, one]) => {
    if (!Array.isArray(one)) return `      ${word(name)}: ${flow(one, key === 'price')}`;
    const items = one.map((item) => `        - ${flow(item, key === 'price')}`);
    return [`      ${word(name)}:`, ...items];
  });
  return [`    ${key}:${remark}`, ...lines];
}

function omittedLines(providers: readonly PlannedProvider[]): string[] {
  return providers
    .filter(({ omitted }) => omitted > 0)
    .map(({ name, omitted }) => `  # and ${omitted} more of ${name}, which are written likewise`);
}

function idleLines([first]: readonly PlannedProvider[]): string[] {
  if (!first) return [];
  return [
    `  # ${first.title}: its prices are not known here. Take the # from its line under providers,`,
    '  # and write its models with the prices that you pay.',
    '  # MODEL-ID:',
    '  #   owner: NAME # one of owners',
    '  #   capabilities: [chat, tools]',
    `  #   upstreams: ${flow([{ provider: first.name }])}`,
    '  #   limits: { max_tokens: 8192, context: 128000 }',
    '  #   price: { input_per_million: 1.00, output_per_million: 2.00 } # dollars',
  ];
}

const PLAIN = /^[A-Za-z][\w./@-]*(?::[\w./@-]+)*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
const AMOUNT = /^\d{1,15}(?:\.\d{1,9})?$/;

/** Formats text as a YAML scalar, quoted where it has to be. */
function word(text: string): string {
  if (PLAIN.test(text) && !RESERVED.test(text)) return text;
  return `'${text.replaceAll("'", "''")}'`;
}

/** Formats a value in flow style, on one line. Amounts of dollars are strings without quotes. */
function flow(value: unknown, has_amounts = false): string {
  if (typeof value === 'string') {
    return has_amounts && AMOUNT.test(value) ? value : word(value);
  }
  if (Array.isArray(value)) return `[${value.map((one) => flow(one, has_amounts)).join(', ')}]`;
  if (!isRecord(value)) return String(value);
  const pairs = Object.entries(value).map(([key, one]) => {
    return `${word(key)}: ${flow(one, has_amounts)}`;
  });
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}
