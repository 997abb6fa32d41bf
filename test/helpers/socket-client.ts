import { once } from 'node:events';
import { WebSocket } from 'ws';

export type Frame = Record<string, unknown> & { type: string };

/** A client of the Responses API over a WebSocket. */
export interface SocketClient {
  ws: WebSocket;
  /** All frames so far. */
  frames: Frame[];
  /** Sends a `response.create` frame. */
  create(body: object): void;
  /** Sends one, and resolves with the frame that ends its turn. */
  turn(body: object): Promise<Frame>;
  /** Resolves with the next frame that fits, which no earlier call has resolved with. */
  next(fits: (frame: Frame) => boolean): Promise<Frame>;
  /** Resolves with the code of its close. */
  closed: Promise<number>;
}

interface SocketOptions {
  path?: string;
  headers?: Record<string, string>;
  answersPings?: boolean;
}

const ENDS = ['response.completed', 'response.incomplete', 'response.failed', 'error'];

/** Opens a WebSocket with a key; rejects with `Unexpected server response: STATUS`. */
export async function openSocket(
  { url, secret }: { url: string; secret: string },
  { path = '/v1/responses', headers = {}, answersPings = true }: SocketOptions = {},
): Promise<SocketClient> {
  const ws = new WebSocket(url.replace(/^http/u, 'ws') + path, {
    autoPong: answersPings,
    headers: {
      authorization: `Bearer ${secret}`,
      'openai-beta': 'responses_websockets=2026-02-06',
      ...headers,
    },
  });
  const frames: Frame[] = [];
  const taken = new Set<Frame>();
  ws.on('message', (data: Buffer) => void frames.push(JSON.parse(data.toString('utf8')) as Frame));
  const closed = new Promise<number>((resolve) => ws.on('close', (code) => resolve(code)));
  await once(ws, 'open');
  ws.on('error', () => undefined);
  const next: SocketClient['next'] = async (fits) => {
    for (;;) {
      const found = frames.find((frame) => !taken.has(frame) && fits(frame));
      if (found) {
        taken.add(found);
        return found;
      }
      if (ws.readyState === ws.CLOSED) throw new Error('The socket closed before such a frame.');
      await Promise.race([once(ws, 'message'), closed]);
    }
  };
  const create = (body: object): void =>
    ws.send(JSON.stringify({ type: 'response.create', ...body }));
  return {
    ws,
    frames,
    create,
    next,
    closed,
    turn: async (body) => {
      create(body);
      return next(({ type }) => ENDS.includes(type));
    },
  };
}

/** The ID of the answer that a frame has. */
export function idIn(frame: Frame): string {
  return (frame.response as { id: string }).id;
}
