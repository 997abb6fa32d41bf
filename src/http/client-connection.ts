import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { LightAbortController, type LightAbortSignal } from '../lib/light-abort.js';
import type { InFlightRequest } from '../lib/in-flight-set.js';
import type { RequestMemory } from './memory-budget.js';
import { ClientDisconnected, type GatewayError } from '../core/errors.js';
import { type ByteHead, ByteWriter } from './byte-writer.js';
import { type EventHead, SseWriter } from './sse-writer.js';

/** How long the gateway reads an upstream's answer after the client has disconnected. */
export interface DisconnectDelays {
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
  /** The error that ended a stream before any output. */
  reported: GatewayError | undefined;
  /** Further headers of the answer. */
  headers: Readonly<Record<string, string>> | undefined;
  /** Counts the bytes of an answer that is held whole in memory. */
  memory: RequestMemory | undefined;
  readonly #stop = new LightAbortController();
  readonly #res: ServerResponse;
  readonly #on_close: () => void;
  #events: SseWriter | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly req: IncomingMessage,
    res: ServerResponse,
    delays: DisconnectDelays,
  ) {
    this.#res = res;
    this.#on_close = () => this.#disconnect(delays);
    res.on('close', this.#on_close);
    if (res.destroyed) this.#on_close();
  }

  /** The path of the request as the client wrote it. */
  get path(): string {
    return this.req.url?.split('?', 1)[0] ?? '';
  }

  /** Whether the client asks for the headers of an answer alone. */
  get is_head(): boolean {
    return this.req.method === 'HEAD';
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.req.url?.split('?')[1]);
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

  /**
   * Begins a stream of events, unless it has begun. A client that reads nothing for `client_ms` is
   * disconnected.
   */
  openEvents(head: EventHead, keep_alive_ms: number, client_ms: number): SseWriter {
    return (this.#events ??= new SseWriter(
      this.#res,
      this.#withHeaders(head),
      keep_alive_ms,
      client_ms,
    ));
  }

  /** Whether a stream of events has begun: an error must end it, as the status was sent. */
  get hasEvents(): boolean {
    return this.#events !== undefined;
  }

  /** Ends a stream of events that has begun, if it has not ended, with an error. */
  failEvents(error: GatewayError): void {
    this.#events?.fail(error);
  }

  /** Sends bytes as they come. Throws as `ByteWriter` does. */
  async sendBytes(
    head: ByteHead,
    chunks: AsyncIterable<Uint8Array>,
    client_ms: number,
  ): Promise<void> {
    const writer = this.openBytes(head, client_ms);
    for await (const chunk of chunks) await writer.write(chunk);
    writer.end();
  }

  /** Begins an answer of bytes. */
  openBytes(head: ByteHead, client_ms: number): ByteWriter {
    return new ByteWriter(this.#res, this.#withHeaders(head), client_ms, this);
  }

  /** Sends a head without a body. */
  sendHead(head: ByteHead, client_ms: number): void {
    const { status, headers } = this.#withHeaders(head);
    this.#res.writeHead(status, headers);
    this.#res.setTimeout(client_ms);
    this.#res.end();
  }

  #withHeaders<Head extends { headers: ByteHead['headers'] }>(head: Head): Head {
    return this.headers ? { ...head, headers: { ...this.headers, ...head.headers } } : head;
  }

  /** To be called when the request is over. */
  close(): void {
    this.#res.off('close', this.#on_close);
    clearTimeout(this.#timer);
  }

  #disconnect({ linger_ms, drain_ms }: DisconnectDelays): void {
    this.disconnected = true;
    if (this.on_disconnect === 'abort') {
      this.#stop.abort(new ClientDisconnected());
      return;
    }
    const delay_ms = this.on_disconnect === 'linger' ? linger_ms : drain_ms;
    this.#timer = setTimeout(() => this.#stop.abort(new ClientDisconnected()), delay_ms);
  }
}
