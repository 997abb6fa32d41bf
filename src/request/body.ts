import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { GatewayError } from '../errors.js';

/**
 * The JSON body of a request. Throws `GatewayError`: 400 for another content type or encoding, or
 * for what is not JSON; 413 past the limit.
 */
export async function readJsonBody(req: IncomingMessage, limit_bytes: number): Promise<unknown> {
  const { 'content-type': type, 'content-encoding': encoding } = req.headers;
  if (!/^application\/json *(;|$)/iu.test(type ?? '')) {
    throw new GatewayError('invalid_request', 'The Content-Type must be application/json.');
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw new GatewayError('invalid_request', 'The body must not be compressed.');
  }
  const bytes = await readBytes(req, limit_bytes);
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    throw new GatewayError('invalid_request', 'The body is not valid JSON.');
  }
}

async function readBytes(req: IncomingMessage, limit: number): Promise<Buffer> {
  try {
    return await getRawBody(req, { limit, length: req.headers['content-length'] ?? null });
  } catch (error) {
    const type = (error as { type?: unknown } | null)?.type;
    if (type === 'entity.too.large') {
      const message = `The body is larger than the ${limit} bytes that are taken here.`;
      throw new GatewayError('body_too_large', message);
    }
    throw new GatewayError('invalid_request', 'The body did not arrive whole.', { cause: error });
  }
}
