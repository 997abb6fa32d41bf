import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  LightAbortController,
  type LightAbortSignal,
  type InFlightRequest,
} from '../lib/concurrency.js';
import type { RequestMemory } from './memory-budget.js';
import { ClientDisconnected, type GatewayError } from '../core/errors.js';
import { UpstreamError } from '../core/upstream-error.js';

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
    return (this.#events ??= new SseWriter(this.#res, head, keep_alive_ms, client_ms));
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
    return new ByteWriter(this.#res, head, client_ms, this);
  }

  /** Sends a head without a body. */
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

/** The head of a binary answer; `length` is undefined if it is not known. */
export interface ByteHead {
  status: number;
  headers: Record<string, string>;
  length: number | undefined;
}

/**
 * Writes bytes to a client, at the speed at which it reads. Throws `ClientDisconnected` once the
 * client has disconnected.
 */
export class ByteWriter {
  readonly #res: ServerResponse;
  #sent = 0;

  constructor(
    res: ServerResponse,
    private readonly head: ByteHead,
    private readonly client_ms: number,
    private readonly client: { readonly disconnected: boolean },
  ) {
    this.#res = res;
    res.writeHead(head.status, head.headers);
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#checkPresent();
    this.#sent += chunk.length;
    if (!this.#res.write(chunk)) await waitForDrain(this.#res, this.client_ms);
  }

  /**
   * Throws `UpstreamError` for fewer or more bytes than the head announces, and leaves the answer
   * unfinished, so that the client sees that it is cut off.
   */
  end(): void {
    const { length } = this.head;
    this.#checkPresent();
    if (length !== undefined && this.#sent !== length) {
      throw new UpstreamError('broken', `The upstream gave ${this.#sent} of ${length} bytes.`);
    }
    this.#res.setTimeout(this.client_ms);
    this.#res.end();
  }

  #checkPresent(): void {
    if (this.client.disconnected) throw new ClientDisconnected();
  }
}

/** How a stream of events is written in the format of its client. */
export interface EventHead {
  headers: Record<string, string>;
  /** The text that keeps a silent connection open; by default a comment. */
  keep_alive?: string | undefined;
  /** The events that end the stream with an error. */
  error: (error: GatewayError) => string;
  /** Whether an error closes the connection, so that no client takes the body for complete. */
  breaks?: boolean | undefined;
}

const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * Writes server-sent events to a client. The head goes out with the first text. When nothing was
 * written for `keep_alive_ms`, the writer sends a comment, or an empty event in a stream of another
 * kind, so that no proxy closes the connection.
 */
export class SseWriter {
  readonly #res: ServerResponse;
  readonly #timer: NodeJS.Timeout;
  readonly #client_ms: number;
  readonly #keep_alive: string;
  /** Whether the body is sent in chunks; a client of HTTP/1.0 reads until the connection ends. */
  readonly #isChunked: boolean;
  #hasBegun = false;
  #hasEnded = false;
  /** True if nothing has been written since the timer last fired. */
  #isQuiet = false;

  constructor(
    res: ServerResponse,
    private readonly head: EventHead,
    keep_alive_ms: number,
    client_ms: number,
  ) {
    const { headers, keep_alive = KEEP_ALIVE } = head;
    this.#res = res;
    this.#keep_alive = keep_alive;
    this.#client_ms = client_ms;
    this.#isChunked = res.req.httpVersion === '1.1';
    res.writeHead(200, { ...headers, ...(this.#isChunked && { 'transfer-encoding': 'chunked' }) });
    // A timer at half the time costs less than one that each write sets again.
    this.#timer = setInterval(() => this.#keepAlive(), keep_alive_ms / 2);
  }

  /** Sends text. If the client is slow, returns a promise that resolves when it has caught up. */
  write(text: string): Promise<void> | undefined {
    this.#isQuiet = false;
    if (this.#res.destroyed || this.#send(text)) return undefined;
    return waitForDrain(this.#res, this.#client_ms);
  }

  /** Sends the head with a keep-alive, as there is no text yet. */
  open(): void {
    this.#send(this.#keep_alive);
  }

  /** Ends the stream with an error, unless it has ended. */
  fail(error: GatewayError): void {
    if (this.#hasEnded) return;
    this.end(this.head.error(error), true);
  }

  /** Sends the last text. One that `failed` closes the connection, where its client wants that. */
  end(text: string, failed = false): void {
    this.#hasEnded = true;
    clearInterval(this.#timer);
    if (this.#res.destroyed) return;
    if (failed && this.head.breaks) return this.#breakOff(text);
    this.#res.end(text);
    if (this.#res.writableLength > 0) this.#res.setTimeout(this.#client_ms);
  }

  #breakOff(text: string): void {
    this.#res.write(text, () => this.#res.destroy());
    this.#res.setTimeout(this.#client_ms);
  }

  /**
   * Node writes a chunk as four pieces, which costs a fifth of an event. So the chunks between the
   * first, which goes out with the head, and the last are written to the socket in one piece.
   */
  #send(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    const encoding = encodingOf(text, bytes);
    const { socket } = this.#res;
    if (this.#hasBegun && this.#isChunked && socket)
      return socket.write(chunk(text, bytes), encoding);
    this.#hasBegun = true;
    return writeCorked(this.#res, text, encoding);
  }

  /** A stalled client gets no comments on top of the text that it has not read yet. */
  #keepAlive(): void {
    const { writableNeedDrain } = this.#res.socket ?? this.#res;
    if (this.#isQuiet && !writableNeedDrain) this.#send(this.#keep_alive);
    this.#isQuiet = !this.#isQuiet;
  }
}

/** A chunk of HTTP/1.1 (RFC 9112, section 7.1). One without a text would end the body. */
function chunk(text: string, bytes: number): string {
  return bytes === 0 ? '' : `${bytes.toString(16)}\r\n${text}\r\n`;
}

/**
 * Writes a text in this turn of the event loop. The cork joins Node's pieces (head, chunk size,
 * text) into one write to the kernel. Without it Node waits until the next tick, which costs more.
 */
export function writeCorked(res: ServerResponse, text: string, encoding: Encoding): boolean {
  const { socket } = res;
  socket?.cork();
  const taken = res.write(text, encoding);
  socket?.uncork();
  return taken;
}

export type Encoding = 'latin1' | 'utf8';

/** The encoding for a text of `bytes` bytes in UTF-8. As many bytes as characters mean ASCII. */
export function encodingOf(text: string, bytes: number): Encoding {
  return bytes === text.length ? 'latin1' : 'utf8';
}

/**
 * Resolves when the client has read what was written, or has disconnected. A client that reads
 * nothing for `client_ms` is disconnected, since it holds an upstream, money and memory.
 */
export function waitForDrain(res: ServerResponse, client_ms: number): Promise<void> {
  const full = res.socket ?? res;
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      full.off('drain', done);
      res.off('close', done);
      resolve();
    };
    const timer = setTimeout(() => {
      res.destroy();
      // An answer that waits behind another one has no socket, and so emits no `close`.
      done();
    }, client_ms);
    full.on('drain', done);
    res.on('close', done);
    if (res.destroyed) done();
  });
}
