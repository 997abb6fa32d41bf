import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LightAbortController, type LightAbortSignal } from '../lib/abort.js';
import type { InFlightRequest } from '../lib/in-flight.js';
import { writeBytes, type ByteHead } from './byte-stream.js';
import type { Room } from './memory-budget.js';
import { SseWriter } from './sse-writer.js';

/** Thrown where the client has left and nobody waits for an answer any more. */
export class ClientDisconnected extends Error {
  override name = 'ClientGone';
  constructor() {
    super('The client closed the connection.');
  }
}

/** How long an upstream is heard out after its client has left. */
export interface Patience {
  linger_ms: number;
  drain_ms: number;
}

/**
 * Follows whether the client is still there, and ends an upstream call that nobody waits for. Where
 * the upstream then stops billing it ends at once, or after `linger_ms` once its output has begun;
 * else after `drain_ms`. So the true usage is learned where there is time for it.
 */
export class ClientConnection implements InFlightRequest {
  index = -1;
  disconnected = false;
  /** What happens to the call under way when the client leaves. */
  on_disconnect: 'abort' | 'linger' | 'drain' = 'abort';
  /** Whether it may come back for the answer, so that one is made also after it has left. */
  may_retry = false;
  /** Whose request it is; null where that is not known. */
  account_id: string | null = null;
  /** Where an answer is counted that is held whole. */
  room: Room | undefined;
  readonly #stop = new LightAbortController();
  readonly #res: ServerResponse;
  readonly #left: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly req: IncomingMessage,
    res: ServerResponse,
    patience: Patience,
  ) {
    this.#res = res;
    this.#left = () => this.#leave(patience);
    res.once('close', this.#left);
    if (res.destroyed) this.#left();
  }

  /** The path of the request as the client wrote it. */
  get path(): string {
    return this.req.url?.split('?', 1)[0] ?? '';
  }

  /** Ends upstream calls when aborted. */
  get signal(): LightAbortSignal {
    return this.#stop;
  }

  /** Ends the call under way with an error that the client is told. */
  stop(reason: Error): void {
    this.#stop.abort(reason);
  }

  /** Whether the answer goes out on that socket. */
  isOn(socket: Duplex): boolean {
    return this.#res.req.socket === socket;
  }

  /** Begins a stream of events; a client that takes none of it for `client_ms` is cut off. */
  openEvents(headers: Record<string, string>, keep_alive_ms: number, client_ms: number): SseWriter {
    return new SseWriter(this.#res, headers, keep_alive_ms, client_ms);
  }

  /** Sends bytes as they come. Throws `ClientGone` where the client leaves before their end. */
  sendBytes(head: ByteHead, chunks: AsyncIterable<Uint8Array>, client_ms: number): Promise<void> {
    return writeBytes(this.#res, head, chunks, client_ms, () => {
      if (this.disconnected) throw new ClientDisconnected();
    });
  }

  /** Sends a head without its bytes. */
  sendHead({ status, headers }: ByteHead, client_ms: number): void {
    this.#res.writeHead(status, headers);
    this.#res.setTimeout(client_ms);
    this.#res.end();
  }

  /** To be called when the request is over. */
  close(): void {
    this.#res.off('close', this.#left);
    clearTimeout(this.#timer);
  }

  #leave({ linger_ms, drain_ms }: Patience): void {
    this.disconnected = true;
    if (this.on_disconnect === 'abort') {
      this.#stop.abort(new ClientDisconnected());
      return;
    }
    const patience_ms = this.on_disconnect === 'linger' ? linger_ms : drain_ms;
    this.#timer = setTimeout(() => this.#stop.abort(new ClientDisconnected()), patience_ms);
  }
}
