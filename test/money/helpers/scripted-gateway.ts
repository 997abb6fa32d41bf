import { expect } from 'chai';
import type { Logger } from 'pino';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { until } from '../../helpers/until.js';
import {
  startUpstream,
  type FakeUpstream,
  type Handler,
  type Step,
} from '../../helpers/upstream.js';
import type { KeyTerms } from '../../../src/store/keys/keys.js';
import type { LedgerEntry } from '../../../src/store/ledger/ledger-columns.js';

/** What the gateway shows its upstreams; no client may ever see it. */
export const UPSTREAM_KEY = 'sk-upstream-0123456789abcdef';

/** Nano-dollars a token at the price that stands where a test says nothing else. */
export const INPUT_NANO = 150n;
export const OUTPUT_NANO = 600n;
const PRICE = '{ input_per_million: 0.15, output_per_million: 0.60 }';

/** The bound of `HELLO`: 64 + 16 + 5 tokens for the prompt, 100 for the answer. */
export const HELLO_MAX_NANO = 85n * INPUT_NANO + 100n * OUTPUT_NANO;
export const HELLO = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };

export type Script = Handler | Step | readonly Step[];

export interface ScriptedGatewayOptions {
  /** The manifest of all upstreams, or of each by its name, `openai` where left out. */
  uses?: string | Record<string, string>;
  /** Files beside gateway.yaml. */
  files?: Record<string, string>;
  /** The API key of the upstreams; none where it is empty. */
  key?: string;
  /** Further keys of each provider entry, and top-level blocks, as YAML. */
  provider?: string;
  settings?: string;
  /** Entries of the model's `upstreams` and its `price`, as YAML. */
  upstreams?: string;
  price?: string;
  model?: string;
  /** 100 where left out. */
  max_tokens?: number;
  /** Further `limits` of the model, as YAML. */
  limits?: string;
  /** As YAML: `chat, tools` where left out. */
  capabilities?: string;
  credit?: string;
  terms?: KeyTerms;
  store?: string;
  now?: () => number;
  log?: Logger;
  /** How long an answer waits for the store. */
  store_wait_ms?: number;
  is_retrying?: true;
  pause?: (ms: number) => Promise<void>;
}

/** A gateway with the model `m` behind which fake upstreams stand, named as their scripts are. */
export interface ScriptedGateway extends TestGateway {
  upstream: FakeUpstream;
  upstreams: Record<string, FakeUpstream>;
  post(body: object, init?: RequestInit): Promise<Response>;
  charges(): Promise<LedgerEntry[]>;
  /** Resolves when no hold is open any more, and fails if anything does not add up. */
  settled(): Promise<void>;
}

/** ScriptedGateways for the tests of one `describe`: after each test, all of them must add up. */
export function scriptedGateways() {
  const open: ScriptedGateway[] = [];
  afterEach(async () => {
    const built = open.splice(0);
    try {
      for (const house of built) await house.settled();
    } finally {
      for (const house of built) await closeAndAudit(house);
    }
  });
  return async (
    scripts: Script | Record<string, Script>,
    options: ScriptedGatewayOptions = {},
  ): Promise<ScriptedGateway> => {
    const house = await startScriptedGateway(isNamed(scripts) ? scripts : { up: scripts }, options);
    open.push(house);
    return house;
  };
}

function isNamed(scripts: Script | Record<string, Script>): scripts is Record<string, Script> {
  if (typeof scripts === 'function' || Array.isArray(scripts)) return false;
  const steps = ['status', 'headers', 'hold', 'body', 'chunks', 'destroyAfter'];
  return Object.keys(scripts).every((name) => !steps.includes(name));
}

export async function startScriptedGateway(
  scripts: Record<string, Script>,
  options: ScriptedGatewayOptions,
): Promise<ScriptedGateway> {
  const upstreams: Record<string, FakeUpstream> = {};
  for (const [name, script] of Object.entries(scripts)) {
    upstreams[name] = await startUpstream(script);
  }
  const [upstream] = Object.values(upstreams);
  if (!upstream) throw new Error('A house needs an upstream.');
  const { credit = '10', store, terms, now, log, files, store_wait_ms } = options;
  const { is_retrying, pause } = options;
  const gateway = await startGateway(yaml(upstreams, options), {
    credit,
    ...(store && { store }),
    ...(terms && { terms }),
    ...(now && { now }),
    ...(log && { log }),
    ...(files && { files }),
    ...(store_wait_ms && { store_wait_ms }),
    ...(is_retrying && { is_retrying }),
    ...(pause && { pause }),
  });
  const { url, secret, account } = gateway;
  const { store: books } = gateway.gateway;
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const post = (body: object, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      ...init,
    });
  const charges = async (): Promise<LedgerEntry[]> =>
    (await books.ledger(account.id, { limit: 1_000 })).filter(({ kind }) => kind === 'charge');
  return { ...gateway, upstream, upstreams, post, charges, settled: () => settled(gateway) };
}

export async function closeAndAudit(house: ScriptedGateway): Promise<void> {
  for (const upstream of Object.values(house.upstreams)) await upstream.close();
  await house.close();
}

function yaml(upstreams: Record<string, FakeUpstream>, options: ScriptedGatewayOptions): string {
  const {
    provider = '',
    price = PRICE,
    settings = '',
    model = '',
    max_tokens = 100,
    limits = '',
  } = options;
  const { uses = 'openai', capabilities = 'chat, tools', key = UPSTREAM_KEY } = options;
  const api_key = key === '' ? '' : `api_key: ${key}, `;
  const manifestOf = (name: string): string =>
    typeof uses === 'string' ? uses : (uses[name] ?? 'openai');
  const names = Object.keys(upstreams);
  const entries = options.upstreams ?? names.map((name) => `{ provider: ${name} }`).join(', ');
  const providers = Object.entries(upstreams).map(
    ([name, { url }]) =>
      `  ${name}: { uses: ${manifestOf(name)}, base_url: "${url}", ${api_key}${provider} }`,
  );
  return `drain: 1s
${settings}
owners: { acme: { name: OpenaiGateway } }
providers:
${providers.join('\n')}
models:
  m:
    owner: acme
    capabilities: [${capabilities}]
    upstreams: [${entries}]
    limits: { max_tokens: ${max_tokens}${limits && `, ${limits}`} }
    price: ${price}
    ${model}
`;
}

async function settled({ gateway: { store }, account }: TestGateway): Promise<void> {
  await until(async () => (await store.verify()).open_holds === 0, 'no hold is open');
  const report = await store.verify();
  expect(report.faults, 'faults of the books').to.deep.equal([]);
  expect((await store.account(account.id))?.held_nano, 'money held').to.equal(0n);
}

/** The charge of a house that has seen exactly one. */
export async function onlyCharge(house: ScriptedGateway): Promise<LedgerEntry> {
  await house.settled();
  const charges = await house.charges();
  expect(charges, 'charges').to.have.length(1);
  const [charge] = charges;
  if (!charge) throw new Error('There is no charge.');
  return charge;
}

/** The `data` of each event of a stream, read to its end. */
export function dataOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
}

/** Resolves when the probe says that the gateway is ready, and so that no charge waits. */
export async function ready({ url }: { url: string }): Promise<void> {
  await until(async () => {
    const response = await fetch(`${url}/readyz`);
    await response.text();
    return response.status === 200;
  }, 'the gateway is ready');
}
