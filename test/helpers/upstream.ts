import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Provider } from '../../src/core/provider.js';
import type { Upstream } from '../../src/core/model.js';

/** One answer of a fake upstream. All parts have defaults: an empty step is a 200 with no body. */
export interface Step {
  status?: number;
  headers?: Record<string, string>;
  /** Waited for before the head is sent. */
  hold?: Promise<unknown>;
  /** The whole body at once. */
  body?: string | Uint8Array;
  /** Or in packets of their own; a promise among them is waited for. */
  chunks?: readonly (string | Uint8Array | Promise<unknown>)[];
  /** Destroys the socket after this many chunks; 0 is after the head, -1 before it. */
  destroyAfter?: number;
}

/** A request as the upstream received it. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  bytes: Buffer;
  /** The body parsed, or undefined where it is not JSON. */
  json: unknown;
  /** Resolves when the answer is over; true if it was sent whole, false if the caller left first. */
  closed: Promise<boolean>;
}

export type Handler = (received: Received, response: ServerResponse) => void | Promise<void>;

export interface FakeUpstream {
  url: string;
  requests: Received[];
  /** How many sockets were ever opened. */
  readonly sockets: number;
  /** How many are open now. */
  readonly open: number;
  close(): Promise<void>;
}

/**
 * A real HTTP server on the loopback interface. It answers with a handler of the test's own, or
 * with steps in order, of which the last one repeats.
 */
export async function startUpstream(
  script: Handler | Step | readonly Step[],
): Promise<FakeUpstream> {
  const requests: Received[] = [];
  const open = new Set<Socket>();
  let sockets = 0;
  const handler = typeof script === 'function' ? script : playing([script].flat());
  const server = createServer((request, response) => {
    void receive(request, response).then(async (received) => {
      requests.push(received);
      await handler(received, response);
    });
  });
  server.on('connection', (socket) => {
    sockets += 1;
    open.add(socket.setNoDelay(true));
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get sockets() {
      return sockets;
    },
    get open() {
      return open.size;
    },
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<Received> {
  const closed = new Promise<boolean>((resolve) => {
    response.on('close', () => resolve(response.writableFinished));
  });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const body = bytes.toString('utf8');
  const { method = '', url: path = '', headers } = request;
  return { method, path, headers, body, bytes, json: parsed(body), closed };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function playing(steps: readonly Step[]): Handler {
  let next = 0;
  return async (_, response) => {
    const step = steps[Math.min(next, steps.length - 1)] ?? {};
    next += 1;
    await play(step, response);
  };
}

/** Answers with one step; for handlers that choose among several. */
export async function play(step: Step, response: ServerResponse): Promise<void> {
  await step.hold;
  if (step.destroyAfter === -1) return void response.socket?.destroy();
  response.writeHead(step.status ?? 200, step.headers);
  if (!step.chunks && step.destroyAfter === undefined) return void response.end(step.body);
  response.flushHeaders();
  let written = 0;
  for (const chunk of step.chunks ?? []) {
    if (written === step.destroyAfter) break;
    if (chunk instanceof Promise) await chunk;
    else {
      await write(response, chunk);
      written += 1;
    }
  }
  if (step.destroyAfter === undefined) response.end();
  else response.socket?.destroy();
}

/** Resolves when the chunk has left, in a packet of its own, or when no one listens any more. */
async function write(response: ServerResponse, chunk: string | Uint8Array): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.write(chunk, () => resolve());
  });
  await new Promise(setImmediate);
}

/** A chat completion that says `content`; `more` overrides its top-level fields. */
export function chatJson(content: string, more: Record<string, unknown> = {}): Step {
  const message = { role: 'assistant', content };
  const document = {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'fake-1',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
    ...more,
  };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(document) };
}

/** A stream of events, each in a packet of its own: text goes as it is, objects as `data:` JSON. */
export function sse(events: readonly (string | object | Promise<unknown>)[]): Step {
  const chunks = events.map((event) => {
    if (event instanceof Promise) return event;
    return typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`;
  });
  return { headers: { 'content-type': 'text/event-stream' }, chunks };
}

/** The usual stream that says `words` one by one, with usage, and ends well. */
export function chatSse(words: readonly string[], prompt_tokens = 9): Step {
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    id: 'chatcmpl-fake',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'fake-1',
    choices: [{ index: 0, delta, finish_reason }],
    usage: null,
  });
  const total_tokens = prompt_tokens + words.length;
  return sse([
    chunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    {
      choices: [],
      usage: { prompt_tokens, completion_tokens: words.length, total_tokens },
    },
    'data: [DONE]\n\n',
  ]);
}

/** A provider as the gateway calls it, with patient timeouts and no operations. */
export function providerAt(base_url: string, more: Partial<Provider> = {}): Provider {
  return {
    name: 'fake',
    manifest: 'fake',
    base_url,
    headers: {},
    operations: new Map(),
    timeouts: { connect_ms: 5_000, first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 10_000 },
    poll_interval_ms: 2_000,
    on_abort: 'abort',
    local: undefined,
    wire: {},
    ...more,
  };
}

/** An upstream entry of a free model at that provider. */
export function upstreamAt(provider: Provider, more: Partial<Upstream> = {}): Upstream {
  return {
    provider,
    model: 'fake-1',
    weight: undefined,
    set: {},
    drop: [],
    rename: {},
    price: { free: true, input_nano_per_million: 0n, output_nano_per_million: 0n },
    ...more,
  };
}
