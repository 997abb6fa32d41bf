import type { ServerResponse } from 'node:http';
import { waitForDrain, encodingOf, writeCorked } from './write.js';

const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * Writes server-sent events to a client. The head goes out with the first text. When nothing was
 * written for `keep_alive_ms`, a comment keeps proxies from closing the connection.
 */
export class SseWriter {
  readonly #res: ServerResponse;
  readonly #timer: NodeJS.Timeout;
  readonly #patience_ms: number;
  /** Nothing has been written since the timer last fired. */
  #isQuiet = false;

  constructor(
    res: ServerResponse,
    headers: Record<string, string>,
    keep_alive_ms: number,
    patience_ms: number,
  ) {
    this.#res = res;
    this.#patience_ms = patience_ms;
    res.writeHead(200, headers);
    // A timer at half the time costs less than one that each write sets again.
    this.#timer = setInterval(() => this.#keepAlive(), keep_alive_ms / 2);
  }

  /** Sends text. Where the client is slow, the promise resolves when it has caught up. */
  write(text: string): Promise<void> | undefined {
    this.#isQuiet = false;
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

  /** A stalled client gets no comments on top of the text that it has not read yet. */
  #keepAlive(): void {
    const { writableNeedDrain } = this.#res.socket ?? this.#res;
    if (this.#isQuiet && !writableNeedDrain) this.#send(KEEP_ALIVE);
    this.#isQuiet = !this.#isQuiet;
  }
}
