import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import getRawBody from 'raw-body';
import { GatewayError } from '../core/errors.js';
import { decode, LARGE_BYTES, weigh } from '../lib/json-text.js';
import { gather } from './large-body.js';
import type { Room } from './memory-budget.js';

/** What a body may be, and what is counted and asked for a large one. */
export interface BodyTerms {
  limit_bytes: number;
  /** The most JSON values in one that is large. */
  values: number;
  /** A large one that brings next to nothing for so long is cut off. */
  stall_ms: number;
  room: Room;
  /** Throws for a caller from whom a large one is not taken. */
  admit: () => Promise<void>;
}

/**
 * The JSON body of a request. Throws `GatewayError`: 400 for another content type or encoding, or
 * for what is not JSON; 413 past the limit; 408 for one that comes too slowly; 503 where no room is
 * left for it.
 */
export async function readJsonBody(req: IncomingMessage, terms: BodyTerms): Promise<unknown> {
  const bytes = await readBytes(req, terms);
  if (bytes.length <= LARGE_BYTES) return parse(bytes.toString('utf8'));
  const weighed = weigh(bytes, terms.values);
  if ('over' in weighed) throw tooComplex(weighed.over, terms.values);
  terms.room.takeValues(weighed.values);
  const body = parse(await decode(bytes));
  // Whatever is done with it next is as long as parsing it was.
  await nextTurn();
  return body;
}

/** A small JSON body, of which nothing is counted. Throws likewise. */
export async function readSmallBody(req: IncomingMessage, limit_bytes: number): Promise<unknown> {
  checkEncoding(req, 'application/json');
  return parse((arrived(req, limit_bytes) ?? (await readAll(req, limit_bytes))).toString('utf8'));
}

/** The fields of a form. Throws `GatewayError`: 400 for anything else, 413 past the limit. */
export async function readFormBody(
  req: IncomingMessage,
  limit_bytes: number,
): Promise<URLSearchParams> {
  checkEncoding(req, 'application/x-www-form-urlencoded');
  return new URLSearchParams((await readAll(req, limit_bytes)).toString('utf8'));
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new GatewayError('invalid_request', 'The body is not valid JSON.');
  }
}

/** Counts a body from when it is announced, or else as it comes. */
async function readBytes(req: IncomingMessage, terms: BodyTerms): Promise<Buffer> {
  checkEncoding(req, 'application/json');
  const { limit_bytes, room } = terms;
  const here = arrived(req, limit_bytes);
  if (here) {
    room.take(here.length);
    return here;
  }
  const length = req.headers['content-length'];
  const announced = length === undefined ? undefined : Number(length);
  if (announced !== undefined && announced > limit_bytes) throw tooLarge(limit_bytes);
  if (announced !== undefined && announced <= LARGE_BYTES) {
    room.take(announced);
    return readAll(req, limit_bytes);
  }
  return gather(req, { ...terms, announced, tooLarge: () => tooLarge(limit_bytes) });
}

/** The whole body, where it came in with its head and no more than the limit of it. */
function arrived(req: IncomingMessage, limit_bytes: number): Buffer | undefined {
  const isHere = req.complete && req.readable && req.readableFlowing === null;
  if (!isHere || req.readableLength > limit_bytes) return undefined;
  return (req.read() as Buffer | null) ?? Buffer.alloc(0);
}

async function readAll(req: IncomingMessage, limit: number): Promise<Buffer> {
  // A client may leave while its key is looked up, and then no event is left to be waited for.
  if (req.destroyed) throw new GatewayError('invalid_request', 'The body did not arrive whole.');
  try {
    return await getRawBody(req, { limit, length: req.headers['content-length'] ?? null });
  } catch (error) {
    const type = (error as { type?: unknown } | null)?.type;
    if (type === 'entity.too.large') throw tooLarge(limit);
    throw new GatewayError('invalid_request', 'The body did not arrive whole.', { cause: error });
  }
}

function tooLarge(limit_bytes: number): GatewayError {
  const message = `The body is larger than the ${limit_bytes} bytes that are taken here.`;
  return new GatewayError('body_too_large', message);
}

function tooComplex(over: 'values' | 'depth', values: number): GatewayError {
  const message =
    over === 'depth'
      ? 'The body is nested too deep.'
      : `The body has more than the ${values} JSON values that are taken here.`;
  return new GatewayError('invalid_request', message);
}
