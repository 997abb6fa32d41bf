import type { ServerResponse } from 'node:http';
import { ClientDisconnected } from '../core/errors.js';
import { UpstreamError } from '../core/upstream-error.js';
import { waitForDrain } from './socket-writes.js';

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
