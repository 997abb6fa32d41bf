import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { GatewayError } from '../errors.js';

/**
 * The JSON body of a request. Throws `GatewayError`: 400 for another content type or encoding, or
 * for what is not JSON; 413 past the limit.
 */
export async function readJsonBody(req: IncomingMessage, limit_bytes: number): Promise<unknown> {
  checkEncoding(req, 'application/json');
  const bytes = arrived(req, limit_bytes) ?? (await readBytes(req, limit_bytes));
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    throw new GatewayError('invalid_request', 'The body is not valid JSON.');
  }
}

/** The fields of a form. Throws `GatewayError`: 400 for anything else, 413 past the limit. */
export async function readFormBody(
  req: IncomingMessage,
  limit_bytes: number,
): Promise<URLSearchParams> {
  checkEncoding(req, 'application/x-www-form-urlencoded');
  return new URLSearchParams((await readBytes(req, limit_bytes)).toString('utf8'));
}

function checkEncoding(req: IncomingMessage, wanted: string): void {
  const { 'content-type': type = '', 'content-encoding': encoding } = req.headers;
  if (type.split(';', 1)[0]?.trim().toLowerCase() !== wanted) {
    throw new GatewayError('invalid_request', `The Content-Type must be ${wanted}.`);
  }
  if (encoding !== undefined && encoding !== 'identity') {
    throw new GatewayError('invalid_request', 'The body must not be compressed.');
  }
}

/** The whole body, where it came in with its head and no more than the limit of it. */
function arrived(req: IncomingMessage, limit_bytes: number): Buffer | undefined {
  const isHere = req.complete && req.readable && req.readableFlowing === null;
  if (!isHere || req.readableLength > limit_bytes) return undefined;
  return (req.read() as Buffer | null) ?? Buffer.alloc(0);
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
