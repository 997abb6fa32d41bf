import type { ServerResponse } from 'node:http';
import type { GatewayError } from '../core/errors.js';
import { writeCorked, encodingOf, waitForDrain } from './socket-writes.js';

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
   * Node writes a chunk as four pieces, which costs more than one. So the chunks between the
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
