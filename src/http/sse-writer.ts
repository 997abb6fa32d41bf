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
    this.#res.end(text);
    if (this.#res.writableLength > 0) this.#res.setTimeout(this.#patience_ms);
  }

  #send(text: string): boolean {
    return writeCorked(this.#res, text, encodingOf(text, Buffer.byteLength(text)));
  }

  /** A stalled client gets no comments piled up on what it has not read yet. */
  #keepAlive(): void {
    const { writableNeedDrain } = this.#res.socket ?? this.#res;
    if (this.#quiet && !writableNeedDrain) this.#send(KEEP_ALIVE);
    this.#quiet = !this.#quiet;
  }
}
