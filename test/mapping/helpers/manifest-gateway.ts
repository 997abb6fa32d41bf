import { expect } from 'chai';
import { ask, errorOf, type Answer, type WireError } from '../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../helpers/gateway.js';
import { startUpstream, type FakeUpstream, type Received } from '../../helpers/upstream.js';

export const UPSTREAM_KEY = 'upstream-key-0123456789';
export const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
export const MP4 = Buffer.from('000000186674797069736f6d', 'hex');

/** What a fake upstream says: JSON with a status, or bytes. */
export interface Say {
  status?: number;
  json?: unknown;
  bytes?: Buffer;
  headers?: Record<string, string>;
}

export type Script = (received: Received, url: string) => Say;

/** A gateway before one fake upstream that a manifest's templates speak to. */
export interface MediaHouse extends TestGateway {
  upstream: FakeUpstream;
  /** What the upstream answers; a test may change it. */
  script: Script;
  /** Moves the clock past the poll interval. */
  wait(): void;
  draw(body?: object): Promise<Answer>;
  submit(body?: object): Promise<Answer>;
  /** Submits, and answers the addresses that the client is given. */
  begin(parameters?: object): Promise<{ status_url: string; response_url: string }>;
  get(path: string): Promise<Answer>;
  /** Cancels the task whose result is at a path. */
  cancel(response_url: string): Promise<Answer>;
  /** Waits, and answers the JSON at a path. */
  later(path: string): Promise<Record<string, unknown>>;
}

export interface MediaOptions {
  /** `providers.p`, without its address and key: `uses: fal`. */
  provider: string;
  model: string;
  script: Script;
  files?: Record<string, string>;
  /** Further keys of the upstream entry. */
  upstream?: string;
  capability: 'image' | 'video';
}

export async function startMedia(options: MediaOptions): Promise<MediaHouse> {
  const { provider, model, files = {}, capability } = options;
  const house = { now_ms: 1_800_000_000_000, script: options.script };
  const upstream = await startUpstream((received, response) => {
    const { status = 200, json, bytes, headers } = house.script(received, upstream.url);
    const type = bytes ? 'video/mp4' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(bytes ?? JSON.stringify(json));
  });
  const price = capability === 'image' ? 'per_image: 0.05' : 'per_video_second: 0.10';
  const yaml = `owners: { o: { name: Owner } }
providers:
  p: { ${provider}, base_url: '${upstream.url}', api_key: ${UPSTREAM_KEY} }
models:
  o/m:
    owner: o
    capabilities: [${capability}]
    upstreams: [{ provider: p, model: ${model}${options.upstream ?? ''} }]
    passthrough: [seed]
    price: { ${price} }
`;
  const gateway = await startGateway(yaml, { files, now: () => house.now_ms });
  const post = (path: string, body: object) =>
    ask(gateway, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const submit = (body: object = { prompt: 'a cat' }) => post('/v1/queue/o/m', body);
  const get = (path: string) => ask(gateway, path);
  const wait = () => {
    house.now_ms += 60_000;
  };
  return Object.assign(house, gateway, {
    upstream,
    wait,
    draw: (body: object = {}) =>
      post('/v1/images/generations', { model: 'o/m', prompt: 'a cat', ...body }),
    submit,
    begin: async (parameters: object = {}) => {
      const { status, text } = await submit({ prompt: 'a cat', parameters });
      expect(status, text).to.equal(202);
      return JSON.parse(text) as { status_url: string; response_url: string };
    },
    get,
    cancel: (response_url: string) => ask(gateway, `${response_url}/cancel`, { method: 'PUT' }),
    later: async (path: string) => {
      wait();
      const { status, text } = await get(path);
      expect(status, text).to.equal(200);
      return JSON.parse(text) as Record<string, unknown>;
    },
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  });
}

/** The error of an answer, and its status. */
export function refusal(answer: Answer): WireError & { status: number } {
  return { status: answer.status, ...errorOf(answer) };
}

/** The videos that a result tells of, by their addresses at the gateway. */
export function videosIn(result: Record<string, unknown>): string[] {
  return (result.data as { url: string }[]).map(({ url }) => url);
}
