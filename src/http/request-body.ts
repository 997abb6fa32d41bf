import type { IncomingMessage } from 'node:http';
import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { GatewayError } from '../core/errors.js';
import { longWorkTurns } from '../lib/event-loop-turns.js';
import { LARGE_BYTES, countValues, parseCounted } from '../lib/json-text.js';
import { LongStrings, SourceTexts, type FindMoved } from '../lib/source-texts.js';
import { readLargeBody } from './large-body.js';
import type { RequestMemory } from './memory-budget.js';
import { unpackerOf } from './unpack-body.js';

/** The limits of a body, and the check of a caller who sends a large one. */
export interface BodyTerms {
  limit_bytes: number;
  /** The maximum number of JSON values in a large body. */
  values: number;
  /** A large body of which less than 64 kB arrive in this time is refused. */
  stall_ms: number;
  memory: RequestMemory;
  /** Throws if the caller may not send a large body. */
  admit: () => Promise<void>;
}

/** A parsed body. A large one has its long texts as they came; see `ParsedJson`. */
export interface ParsedBody {
  body: unknown;
  texts?: SourceTexts | undefined;
}

/**
 * Reads the JSON body of a request. In a large one, the texts that `findMoved` notes are sealed.
 * Throws `GatewayError`: 400 for another content type, or if the body is not JSON in UTF-8 or
 * cannot be unpacked; 413 past the limit; 415 for another coding; 408 if it comes too slowly; 503
 * if there is no memory for it.
 */
export async function readJsonBody(
  req: IncomingMessage,
  terms: BodyTerms,
  findMoved?: FindMoved,
): Promise<ParsedBody> {
  const bytes = await readBytes(req, terms, 'application/json');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'The body is not valid UTF-8.');
  if (bytes.length <= LARGE_BYTES) return { body: parse(bytes.toString('utf8')) };
  const strings = new LongStrings();
  const weighed = countValues(bytes, terms.values, strings);
  if ('over' in weighed) throw tooComplex(weighed.over, terms.values);
  terms.memory.takeValues(weighed.values);
  const parsed = await SourceTexts.parse(bytes, strings, findMoved);
  if (!parsed) throw notJson();
  // The next step takes as long as the parsing did, so other requests get a turn first.
  await longWorkTurns.next();
  return { body: parsed.value, texts: parsed.texts };
}

/** How long a small body may take that is packed. */
const SMALL_STALL_MS = 10_000;

/** Reads a small JSON body without counting it. Throws likewise. */
export async function readSmallBody(req: IncomingMessage, limit_bytes: number): Promise<unknown> {
  checkType(req, 'application/json');
  return parse((await readSmall(req, limit_bytes)).toString('utf8'));
}

async function readSmall(req: IncomingMessage, limit_bytes: number): Promise<Buffer> {
  const unpacker = unpackerOf(req);
  if (!unpacker) return arrived(req, limit_bytes) ?? readAll(req, limit_bytes);
  const uncounted = { take: () => undefined };
  const terms = { limit_bytes, stall_ms: SMALL_STALL_MS, memory: uncounted, unpacker };
  const admit = (): Promise<void> => Promise.resolve();
  return readLargeBody(req, { ...terms, ...unannounced(limit_bytes), admit });
}

/**
 * Reads the fields of a form. Throws `GatewayError`: 400 for another content type, 413 past the
 * limit.
 */
export async function readFormBody(
  req: IncomingMessage,
  limit_bytes: number,
): Promise<URLSearchParams> {
  checkType(req, 'application/x-www-form-urlencoded');
  return new URLSearchParams((await readSmall(req, limit_bytes)).toString('utf8'));
}

/** Whether a body is of a content type, whatever its parameters. */
export function isOfType({ headers }: IncomingMessage, wanted: string): boolean {
  const type = headers['content-type'];
  // Most clients write it just so.
  return type === wanted || type?.split(';', 1)[0]?.trim().toLowerCase() === wanted;
}

function checkType(req: IncomingMessage, wanted: string): void {
  if (isOfType(req, wanted)) return;
  throw new GatewayError('invalid_request', `The Content-Type must be ${wanted}.`);
}

function parse(text: string): unknown {
  const body = parseCounted(text);
  if (body !== undefined) return body;
  throw notJson();
}

function notJson(): GatewayError {
  return new GatewayError('invalid_request', 'The body is not valid JSON.');
}

/**
 * Reads a body of one content type. Counts the announced length at once, or else the bytes as they
 * come. Throws as `readJsonBody` does.
 */
export function readBytes(
  req: IncomingMessage,
  terms: BodyTerms,
  type: string,
): Buffer | Promise<Buffer> {
  checkType(req, type);
  const unpacker = unpackerOf(req);
  if (unpacker)
    return readLargeBody(req, { ...terms, ...unannounced(terms.limit_bytes), unpacker });
  const here = arrived(req, terms.limit_bytes);
  if (!here) return readLater(req, terms);
  terms.memory.take(here.length);
  return here;
}

async function readLater(req: IncomingMessage, terms: BodyTerms): Promise<Buffer> {
  const { limit_bytes, memory } = terms;
  const length = req.headers['content-length'];
  const announced = length === undefined ? undefined : Number(length);
  if (announced !== undefined && announced > limit_bytes) throw tooLarge(limit_bytes);
  if (announced !== undefined && announced <= LARGE_BYTES) {
    memory.take(announced);
    return readAll(req, limit_bytes);
  }
  return readLargeBody(req, { ...terms, ...unannounced(limit_bytes), announced });
}

/** The terms of a body whose length is not known. */
function unannounced(limit_bytes: number) {
  return { announced: undefined, tooLarge: () => tooLarge(limit_bytes) };
}

/** The whole body, if it arrived together with its head and is within the limit. */
function arrived(req: IncomingMessage, limit_bytes: number): Buffer | undefined {
  const isHere = req.complete && req.readable && req.readableFlowing === null;
  if (!isHere || req.readableLength > limit_bytes) return undefined;
  return (req.read() as Buffer | null) ?? Buffer.alloc(0);
}

const require = createRequire(import.meta.url);

async function readAll(req: IncomingMessage, limit: number): Promise<Buffer> {
  // A client may disconnect while its key is looked up. Then no event would ever come.
  if (req.destroyed) throw new GatewayError('invalid_request', 'The body did not arrive whole.');
  // Loaded with the first request: `check` reads none, and loading takes a fortieth of its time.
  const getRawBody = require('raw-body') as typeof import('raw-body');
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
