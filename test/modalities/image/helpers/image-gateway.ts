import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { ask, errorOf, type Answer, type WireError } from '../../../helpers/ask.js';
import {
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '../../../helpers/gateway.js';
import { expectShape } from '../../../helpers/schemas.js';
import { until } from '../../../helpers/until.js';
import {
  play,
  startUpstream,
  type FakeUpstream,
  type Received,
  type Step,
} from '../../../helpers/upstream.js';
import { PNG } from './image-bytes.js';
import type { LedgerEntry } from '../../../../src/store/ledger/ledger-columns.js';

export const UPSTREAM_KEY = 'sk-upstream-0123456789abcdef';
export const START_MS = 1_800_000_000_000;
/** Nano-dollars of an image of the model `painter`. */
export const IMAGE_NANO = 40_000_000n;

/** How an upstream answers its nth call, from 1: a step, or nothing for images of its own. */
export type Paint = (
  received: Received,
  nth: number,
  response: ServerResponse,
) => Step | undefined | Promise<Step | undefined>;

export interface ImageGatewayOptions extends TestGatewayOptions {
  /** Further entries of `models`, and top-level blocks, as YAML. */
  models?: string;
  settings?: string;
  /** Facts about the wire, and `on_abort`, of the first upstream's manifest. */
  manifest?: string;
}

export interface Images {
  created: number;
  data: { url?: string; b64_json?: string; revised_prompt: string }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

/** A gateway before two upstreams that speak the images wire, with a clock that a test moves. */
export interface ImageGateway extends TestGateway {
  now_ms: number;
  first: FakeUpstream;
  second: FakeUpstream;
  /** Of the first and of the second upstream. */
  paint: Paint;
  paintSecond: Paint;
  post(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The images of an answer that must be good. */
  images(body: object): Promise<Images>;
  charges(): Promise<LedgerEntry[]>;
  /** Waits until no hold is open, and fails if anything does not add up. */
  settled(): Promise<void>;
}

/** What an upstream of the images wire answers: as many images as were asked for. */
export function painted(count: number, more: object = {}, bytes: Buffer = PNG): Step {
  const data = Array.from({ length: count }, () => ({ b64_json: bytes.toString('base64') }));
  return json(200, { created: 1, data, ...more });
}

export function json(status: number, body: object): Step {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body: JSON.stringify(body) };
}

export function refused(message = 'Not that.'): Step {
  return json(400, { error: { message, code: 'moderation_blocked', type: 'user_error' } });
}

/** All edit images but the one that makes a single image a call. */
const MANIFEST = (more: string, most: number): string =>
  `name: ImageGateway
auth: bearer
operations: { image: { path: /images/generations, codec: openai-image, max: ${most}${most === 1 ? '' : ', edit: { path: /images/edits }'} } }
passthrough: [output_format]
${more}
`;

/** Starts one for each test of a `describe`, and holds the books of the last to add up after it. */
export function eachImageGateway(
  take: (gateway: ImageGateway) => void,
  last: () => ImageGateway,
  options: ImageGatewayOptions = {},
): void {
  beforeEach(async () => take(await startImageGateway(options)));
  afterEach(async () => {
    await last().settled();
    await last().close();
  });
}

export async function startImageGateway(options: ImageGatewayOptions = {}): Promise<ImageGateway> {
  const gallery = { now_ms: START_MS, paint: plain, paintSecond: plain } as ImageGateway;
  const first = await startUpstream(painting(() => gallery.paint));
  const second = await startUpstream(painting(() => gallery.paintSecond));
  const { models = '', settings = '', manifest = 'wire: { free_sizes: true }', ...rest } = options;
  const at = (url: string) => `base_url: "${url}", api_key: ${UPSTREAM_KEY}`;
  const yaml = [
    settings,
    'owners: { acme: { name: OpenaiGateway } }',
    'providers:',
    `  first: { uses: ./ten.yaml, ${at(first.url)} }`,
    `  single: { uses: ./one.yaml, ${at(first.url)} }`,
    `  triple: { uses: ./three.yaml, ${at(first.url)} }`,
    `  second: { uses: ./ten.yaml, ${at(second.url)} }`,
    '  simulator: {}',
    'models:',
    '  painter: { owner: acme, capabilities: [image], upstreams: [{ provider: first, model: p-1 }], price: { per_image: 0.04 } }',
    '  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }',
    ...[
      ['single', '[{ provider: single }]'],
      ['triple', '[{ provider: triple }]'],
      ['spare', '[{ provider: second }, { provider: first }]'],
    ].map(
      ([id, upstreams]) =>
        `  ${id}: { owner: acme, capabilities: [image], upstreams: ${upstreams}, price: { per_image: 0.04 } }`,
    ),
    models,
  ].join('\n');
  const files = {
    'ten.yaml': MANIFEST(manifest, 10),
    'one.yaml': MANIFEST(manifest, 1),
    'three.yaml': MANIFEST(manifest, 3),
    ...rest.files,
  };
  const gateway = await startGateway(yaml, { now: () => gallery.now_ms, ...rest, files });
  const close = async (): Promise<void> => {
    await gateway.close();
    await first.close();
    await second.close();
  };
  return Object.assign(gallery, gateway, { first, second, close }, acts(gallery));
}

const plain: Paint = () => undefined;

function painting(paint: () => Paint) {
  let nth = 0;
  return async (received: Received, response: ServerResponse): Promise<void> => {
    nth += 1;
    const { n = 1 } = (received.json ?? {}) as { n?: number };
    await play((await paint()(received, nth, response)) ?? painted(n), response);
  };
}

function acts(gallery: ImageGateway) {
  const post = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    ask(gallery, '/v1/images/generations', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return {
    post,
    images: async (body: object) =>
      imagesOf(await post({ model: 'painter', prompt: 'A cat', ...body })),
    charges: async () => {
      const rows = await gallery.gateway.store.ledger(gallery.account.id, { limit: 1_000 });
      return rows.filter(({ kind }) => kind === 'charge');
    },
    settled: () => settled(gallery),
  };
}

/** The images of an answer, held against its schema. */
export function imagesOf({ status, text }: Answer): Images {
  expect(status, text).to.equal(200);
  const body = JSON.parse(text) as Images;
  expectShape('image-generation-response', body);
  return body;
}

/** The status, code and param of a refusal, in the one shape. */
export function refusal(answer: Answer): [number, string, WireError['param']] {
  const { code, param } = errorOf(answer);
  return [answer.status, code, param];
}

async function settled({ gateway: { store }, account }: ImageGateway): Promise<void> {
  await until(async () => (await store.verify()).open_holds === 0, 'no hold is open');
  const report = await store.verify();
  expect(report.faults, 'faults of the books').to.deep.equal([]);
  expect((await store.account(account.id))?.held_nano, 'money held').to.equal(0n);
}

/** The bytes behind a URL, fetched as a browser does: with no key. */
export function browse(
  { url: at }: ImageGateway,
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(new URL(new URL(url).pathname, at), init);
}
