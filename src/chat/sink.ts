import type { ServerResponse } from 'node:http';
import { writeAtOnce } from '../client.js';

const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * The client's end of a stream. The head goes out with the first text. While nothing is written for
 * `keep_alive_ms`, a comment keeps proxies from closing the connection.
 */
export class Sink {
  readonly #res: ServerResponse;
  readonly #timer: NodeJS.Timeout;
  readonly #patience_ms: number;
  readonly #chunked: boolean;
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

  /**
   * Sends text; the promise, where there is one, waits for a slow client to catch up. One that does
   * not is cut off: it would hold its upstream, its money and this process for ever.
   */
  write(text: string): Promise<void> | undefined {
    this.#quiet = false;
    if (this.#res.destroyed || writeAtOnce(this.#res, this.#framed(text))) return undefined;
    return this.#drained();
  }

  end(text: string): void {
    clearInterval(this.#timer);
    if (this.#res.destroyed) return;
    writeAtOnce(this.#res, this.#chunked ? `${this.#framed(text)}0\r\n\r\n` : text);
    this.#res.end();
    if (this.#res.writableLength > 0) this.#res.setTimeout(this.#patience_ms);
  }

  /** The text as HTTP/1.1 sends it (RFC 9112, section 7.1); an empty chunk would be the last. */
  #framed(text: string): string {
    if (!this.#chunked || text === '') return text;
    return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  }

  /** A stalled client gets no comments piled up on what it has not read yet. */
  #keepAlive(): void {
    if (this.#quiet && !this.#res.writableNeedDrain) this.#res.write(this.#framed(KEEP_ALIVE));
    this.#quiet = !this.#quiet;
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const patience = setTimeout(() => this.#res.destroy(), this.#patience_ms);
      const done = (): void => {
        clearTimeout(patience);
        this.#res.off('drain', done);
        this.#res.off('close', done);
        resolve();
      };
      this.#res.on('drain', done);
      this.#res.on('close', done);
    });
  }
}
