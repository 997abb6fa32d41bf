import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LightAbortController, type LightAbortSignal } from '../lib/abort.js';
import type { InFlightRequest } from '../lib/in-flight.js';
import { writeBytes, type ByteHead } from './byte-stream.js';
import type { Room } from './memory-budget.js';
import { SseWriter } from './sse-writer.js';

/** The client has disconnected, so no answer is needed. */
export class ClientDisconnected extends Error {
  override name = 'ClientDisconnected';
  constructor() {
    super('The client closed the connection.');
  }
}

/** How long an upstream's answer is still read after the client has disconnected. */
export interface Patience {
  linger_ms: number;
  drain_ms: number;
}

/**
 * Watches the connection of a client, and ends its upstream call some time after it disconnects. A
 * call whose upstream stops billing when aborted ends at once, or after `linger_ms` once its output
 * has begun. Any other ends after `drain_ms`, so that the upstream can still report the usage.
 */
export class ClientConnection implements InFlightRequest {
  index = -1;
  disconnected = false;
  /** What happens to the call in flight when the client disconnects. */
  on_disconnect: 'abort' | 'linger' | 'drain' = 'abort';
  /** The client may repeat the request, so the answer is made also after it has disconnected. */
  may_retry = false;
  /** The account of the request; null until it is known. */
  account_id: string | null = null;
  /** Counts the bytes of an answer that is held whole in memory. */
  room: Room | undefined;
  readonly #stop = new LightAbortController();
  readonly #res: ServerResponse;
  readonly #on_close: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly req: IncomingMessage,
    res: ServerResponse,
    patience: Patience,
  ) {
    this.#res = res;
    this.#on_close = () => this.#disconnect(patience);
    res.once('close', this.#on_close);
    if (res.destroyed) this.#on_close();
  }

  /** The path of the request as the client wrote it. */
  get path(): string {
    return this.req.url?.split('?', 1)[0] ?? '';
  }

  /** Aborted when upstream calls must end. */
  get signal(): LightAbortSignal {
    return this.#stop;
  }

  /** Ends the call in flight with an error for the client. */
  stop(reason: Error): void {
    this.#stop.abort(reason);
  }

  /** Whether the answer goes out on that socket. */
  isOn(socket: Duplex): boolean {
    return this.#res.req.socket === socket;
  }

  /** Begins a stream of events. A client that reads nothing for `client_ms` is disconnected. */
  openEvents(headers: Record<string, string>, keep_alive_ms: number, client_ms: number): SseWriter {
    return new SseWriter(this.#res, headers, keep_alive_ms, client_ms);
  }

  /** Sends bytes as they come. Throws `ClientDisconnected` when the client disconnects early. */
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
    this.#res.off('close', this.#on_close);
    clearTimeout(this.#timer);
  }

  #disconnect({ linger_ms, drain_ms }: Patience): void {
    this.disconnected = true;
    if (this.on_disconnect === 'abort') {
      this.#stop.abort(new ClientDisconnected());
      return;
    }
    const patience_ms = this.on_disconnect === 'linger' ? linger_ms : drain_ms;
    this.#timer = setTimeout(() => this.#stop.abort(new ClientDisconnected()), patience_ms);
  }
}
