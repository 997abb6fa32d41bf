import type { ServerResponse } from 'node:http';
import { waitForDrain, encodingOf, writeCorked } from './write.js';

const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * The client's end of a stream. The head goes out with the first text. While nothing is written for
 * `keep_alive_ms`, a comment keeps proxies from closing the connection.
 */
export class SseWriter {
  readonly #res: ServerResponse;
  readonly #timer: NodeJS.Timeout;
  readonly #patience_ms: number;
  readonly #chunked: boolean;
  /** The head has gone out. */
  #hasBegun = false;
  /** Nothing has been written since the timer last rang. */
  #quiet = false;

  constructor(
    res: ServerResponse,
    headers: Record<string, string>,
    keep_alive_ms: number,
    patience_ms: number,
  ) {
    this.#res = res;
    this.#patience_ms = patience_ms;
    res.writeHead(200, headers);
    // Node makes four small writes of a chunk; framed here it is one, for half the cost.
    this.#chunked = res.chunkedEncoding;
    res.chunkedEncoding = false;
    // Looking twice as often costs less than winding up a timer again at each write.
    this.#timer = setInterval(() => this.#keepAlive(), keep_alive_ms / 2);
  }

  /** Sends text; the promise, where there is one, waits for a slow client to catch up. */
  write(text: string): Promise<void> | undefined {
    this.#quiet = false;
    if (this.#res.destroyed || this.#send(text)) return undefined;
    return waitForDrain(this.#res, this.#patience_ms);
  }

  end(text: string): void {
    clearInterval(this.#timer);
    if (this.#res.destroyed) return;
    this.#send(text, '0\r\n\r\n');
    this.#res.end();
    if (this.#res.writableLength > 0) this.#res.setTimeout(this.#patience_ms);
  }

  /** After the head `res.write` would add nothing, so all else goes straight to the socket. */
  #send(text: string, last = ''): boolean {
    const res = this.#res;
    const bytes = Buffer.byteLength(text);
    const encoding = encodingOf(text, bytes);
    const framed = this.#chunked ? chunkOf(text, bytes) + last : text;
    if (this.#hasBegun && res.socket) return res.socket.write(framed, encoding);
    this.#hasBegun = true;
    return writeCorked(res, framed, encoding);
  }

  /** A stalled client gets no comments piled up on what it has not read yet. */
  #keepAlive(): void {
    const { writableNeedDrain } = this.#res.socket ?? this.#res;
    if (this.#quiet && !writableNeedDrain) this.#send(KEEP_ALIVE);
    this.#quiet = !this.#quiet;
  }
}

/** As HTTP/1.1 frames it (RFC 9112, section 7.1); nothing for no text, which would be the end. */
function chunkOf(text: string, bytes: number): string {
  return bytes === 0 ? '' : `${bytes.toString(16)}\r\n${text}\r\n`;
}
