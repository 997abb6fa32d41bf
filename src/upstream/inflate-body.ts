import { UpstreamError } from '../core/upstream-error.js';
import { isStop } from '../core/errors.js';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const INFLATERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

export function isCompressed(encoding: string | undefined): encoding is string {
  return encoding !== undefined && INFLATERS.has(encoding.toLowerCase());
}

/**
 * Decompresses a body, for upstreams that compress although the gateway asks them not to. It
 * inflates only as fast as its reader reads, so the reader's limit stops a decompression bomb.
 * Throws `UpstreamError` for a body that is cut off or in another encoding.
 */
export async function* inflate(
  body: AsyncIterable<Buffer>,
  encoding: string,
): AsyncGenerator<Buffer, undefined> {
  const create = INFLATERS.get(encoding.toLowerCase());
  if (!create) throw new UpstreamError('broken', 'The upstream used an unknown compression.');
  const inflater = create();
  // The iteration below reports every error of this pipeline.
  pipeline(body, inflater, () => undefined);
  try {
    for await (const chunk of inflater) yield chunk;
  } catch (error) {
    if (error instanceof UpstreamError || isStop(error)) throw error;
    const message = "The upstream's compressed answer cannot be read.";
    throw new UpstreamError('broken', message, undefined, { cause: error });
  }
}
