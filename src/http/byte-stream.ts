import type { ServerResponse } from 'node:http';
import { UpstreamError } from '../core/upstream-error.js';
import { waitForDrain } from './write.js';

/** The head of an answer that is bytes, and their number where it is known. */
export interface ByteHead {
  status: number;
  headers: Record<string, string>;
  length: number | undefined;
}

/**
 * Writes bytes to a client as they come, and no faster than it reads. `checkPresent` throws where
 * the client has left. Throws `UpstreamError` for fewer or more bytes than the head promised, and
 * leaves the answer unfinished, so that nobody takes a part for the whole.
 */
export async function writeBytes(
  res: ServerResponse,
  { status, headers, length }: ByteHead,
  chunks: AsyncIterable<Uint8Array>,
  client_ms: number,
  checkPresent: () => void,
): Promise<void> {
  res.writeHead(status, headers);
  let sent = 0;
  for await (const chunk of chunks) {
    checkPresent();
    sent += chunk.length;
    if (!res.write(chunk)) await waitForDrain(res, client_ms);
  }
  checkPresent();
  if (length !== undefined && sent !== length) {
    throw new UpstreamError('broken', `The upstream gave ${sent} of ${length} bytes.`);
  }
  res.setTimeout(client_ms);
  res.end();
}
