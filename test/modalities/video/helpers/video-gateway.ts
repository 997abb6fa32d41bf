import { expect } from 'chai';
import { Gateway, checkOrThrow } from '../../../../src/gateway/gateway.js';
import { pino, type Logger } from 'pino';
import { ask, errorOf, type Answer, type WireError } from '../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { expectShape } from '../../../helpers/schemas.js';
import { videoUpstreamFiles, startVideoUpstream, type VideoUpstream } from './video-upstream.js';
import type { KeyTerms } from '../../../../src/store/keys/keys.js';

export const UPSTREAM_KEY = 'sk-lab-0123456789abcdef';
export const MODEL = 'studio/film-1';
export const START_MS = 1_800_000_000_000;
export const POLL_MS = 2_000;
/** Nano-dollars of a second at 720p with sound. */
export const SECOND_NANO = 200_000_000n;

export interface VideoGatewayOptions {
  credit?: string;
  terms?: KeyTerms;
  store?: string;
  /** Further entries of `providers` and `models`, and top-level blocks, as YAML. */
  providers?: string;
  models?: string;
  settings?: string;
  /** Entries of the upstreams of `studio/film-1`. */
  upstreams?: string;
  /** Hosts that the operator lists as those of the lab's files. */
  hosts?: readonly string[];
  /** Keeps the real time. */
  clock?: 'real';
  log?: Logger;
}

/** A gateway before a film lab, with a clock that only the test moves. */
export interface VideoGateway extends TestGateway {
  lab: VideoUpstream;
  now_ms: number;
  yaml: string;
  submit(body?: object, model?: string, headers?: Record<string, string>): Promise<Answer>;
  /** Submits and answers the ID. */
  begin(parameters?: object): Promise<string>;
  get(path: string, init?: RequestInit): Promise<Answer>;
  status(id: string, model?: string): Promise<TaskBody>;
  result(id: string, model?: string): Promise<TaskBody>;
  /** Balance, held, the amounts of charges, and what does not add up. */
  books(): Promise<{ balance: bigint; held: bigint; charges: bigint[]; faults: string[] }>;
  /** Another gateway on the same file and store. */
  another(): Promise<{ url: string; secret: string; gateway: Gateway; close(): Promise<void> }>;
}

export interface TaskBody {
  request_id: string;
  status: string;
  model?: string;
  data?: { url: string }[];
  usage?: { video_seconds: number; video_resolution: string; video_has_audio: boolean };
  error?: string;
}

const PRICE = '{ per_video_second: { 720p: { silent: 0.10, audio: 0.20 }, 1080p: 0.30 } }';

export function yamlOf(lab: VideoUpstream, options: VideoGatewayOptions): string {
  const at = `uses: ./lab.yaml, base_url: "${lab.url}", api_key: ${UPSTREAM_KEY}`;
  const video = 'owner: studio, capabilities: [video]';
  const upstreams = options.upstreams ?? '{ provider: lab, model: film-one }';
  return [
    options.settings ?? '',
    'owners: { studio: { name: Studio } }',
    'providers:',
    `  lab: { ${at}, poll_interval: 2s }`,
    `  elsewhere: { ${at} }`,
    `  single: { ${at.replace('lab.yaml', 'single.yaml')} }`,
    `  triple: { ${at.replace('lab.yaml', 'triple.yaml')} }`,
    '  simulator: {}',
    options.providers ?? '',
    'models:',
    `  ${MODEL}: { ${video}, upstreams: [${upstreams}], price: ${PRICE} }`,
    `  sibling: { ${video}, upstreams: [{ provider: lab }], price: ${PRICE} }`,
    `  stranger: { ${video}, upstreams: [{ provider: elsewhere }], price: ${PRICE} }`,
    `  narrow: { ${video}, upstreams: [{ provider: lab }], price: ${PRICE}, limits: { duration_seconds: 6, sample_count: 2, resolutions: [720p] } }`,
    `  single: { ${video}, upstreams: [{ provider: single }], price: ${PRICE} }`,
    `  triple: { ${video}, upstreams: [{ provider: triple }], price: ${PRICE} }`,
    `  gift: { ${video}, upstreams: [{ provider: lab }], price: free }`,
    '  talk: { owner: studio, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }',
    options.models ?? '',
  ].join('\n');
}

export async function startVideoGateway(options: VideoGatewayOptions = {}): Promise<VideoGateway> {
  const lab = await startVideoUpstream();
  const yaml = yamlOf(lab, options);
  const files = await videoUpstreamFiles(options.hosts);
  const now = (): number => (options.clock === 'real' ? Date.now() : studio.now_ms);
  const { credit, store, terms, log } = options;
  const clock = { now_ms: START_MS };
  const studio = clock as VideoGateway;
  const gateway = await startGateway(yaml, {
    files,
    now,
    ...(credit !== undefined && { credit }),
    ...(store !== undefined && { store }),
    ...(terms !== undefined && { terms }),
    ...(log !== undefined && { log }),
  });
  return Object.assign(studio, gateway, { lab, yaml }, acts(studio), {
    close: async () => {
      await gateway.close();
      await lab.close();
    },
  });
}

function acts(studio: VideoGateway) {
  return {
    submit: (body: object = { prompt: 'a cat' }, model = MODEL, headers = {}) =>
      submitTo(studio, body, model, headers),
    begin: async (parameters: object = {}) => {
      const { status, text } = await submitTo(studio, { prompt: 'a cat', parameters }, MODEL, {});
      expect(status, text).to.equal(202);
      return (JSON.parse(text) as TaskBody).request_id;
    },
    get: (path: string, init: RequestInit = {}) => ask(studio, path, init),
    status: async (id: string, model = MODEL) =>
      bodyOf(await ask(studio, `/v1/queue/${model}/requests/${id}/status`), 'video-status'),
    result: async (id: string, model = MODEL) =>
      bodyOf(await ask(studio, `/v1/queue/${model}/requests/${id}`), 'video-result'),
    books: () => booksOf(studio),
    another: () => anotherOn(studio),
  };
}

export async function submitTo(
  at: { url: string; secret: string },
  body: object | string,
  model: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const answer = await ask(at, `/v1/queue/${model}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  if (answer.status === 202) expectShape('video-submission-response', JSON.parse(answer.text));
  else errorOf(answer);
  return answer;
}

export function bodyOf({ status, text }: Answer, schema: string): TaskBody {
  expect(status, text).to.equal(200);
  const body = JSON.parse(text) as TaskBody;
  expectShape(schema, body);
  return body;
}

/** The status, code and param of a refusal, in the one shape. */
export function refused(answer: Answer): [number, string, WireError['param']] {
  const { code, param } = errorOf(answer);
  return [answer.status, code, param];
}

async function booksOf({ gateway, account }: VideoGateway): ReturnType<VideoGateway['books']> {
  const { store } = gateway;
  const { faults } = await store.verify();
  const found = await store.account(account.id);
  const rows = await store.ledger(account.id, { limit: 1_000 });
  return {
    balance: found?.balance_nano ?? 0n,
    held: found?.held_nano ?? 0n,
    charges: rows.filter(({ kind }) => kind === 'charge').map(({ amount_nano }) => amount_nano),
    faults,
  };
}

async function anotherOn(studio: VideoGateway): ReturnType<VideoGateway['another']> {
  const log = pino({ level: 'silent' });
  const options = { log, now: () => studio.now_ms, random: Math.random };
  const gateway = await Gateway.open(await checkOrThrow(studio.file, {}), options);
  const { port } = await gateway.listen();
  const url = `http://127.0.0.1:${port}`;
  return { url, secret: studio.secret, gateway, close: async () => void (await gateway.stop()) };
}

/** Dollars in nano-dollars, for whole and half ones. */
export function dollars(amount: number): bigint {
  return BigInt(Math.round(amount * 1e9));
}
