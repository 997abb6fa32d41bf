import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { GatewayError, OptionError } from '../core/errors.js';
import { longWorkTurns } from '../lib/concurrency.js';
import { decode, LARGE_BYTES, countValues, parseCounted } from '../lib/json-text.js';
import { readLargeBody } from './large-body.js';
import type { RequestMemory } from './memory-budget.js';
import { unpackerOf } from './unpack-body.js';
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { AnySchema, ValidateFunction, ErrorObject } from 'ajv/dist/2020.js';
import { compilerOf, validatorOfShipped } from '../lib/schemas.js';

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

/**
 * Reads the JSON body of a request. Throws `GatewayError`: 400 for another content type, or if the
 * body is not JSON or cannot be unpacked; 413 past the limit; 415 for another coding; 408 if it
 * comes too slowly; 503 if there is no memory for it.
 */
export async function readJsonBody(req: IncomingMessage, terms: BodyTerms): Promise<unknown> {
  const bytes = await readBytes(req, terms, 'application/json');
  if (bytes.length <= LARGE_BYTES) return parse(bytes.toString('utf8'));
  const weighed = countValues(bytes, terms.values);
  if ('over' in weighed) throw tooComplex(weighed.over, terms.values);
  terms.memory.takeValues(weighed.values);
  const body = parse(await decode(bytes));
  // The next step takes as long as the parsing did, so other requests get a turn first.
  await longWorkTurns.next();
  return body;
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
  throw new GatewayError('invalid_request', 'The body is not valid JSON.');
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

/** Throws `GatewayError` (400, naming the field) for a body that breaks its schema. */
export type Check = (body: unknown) => void;

/** The check of a format's schema, `schemas/NAME.schema.json`, which may refine another one. */
export function compileShippedSchema(name: string): Check {
  return checking(validatorOfShipped(name, 'body'));
}

/** An operator's own schema, by its path from gateway.yaml. Throws `OptionError` if unusable. */
export function compileOwnSchema(path: string, configFile: string): Check {
  try {
    const file = resolve(dirname(configFile), path);
    if (!statSync(file).isFile()) throw new OptionError('it is no regular file');
    const text = readFileSync(file, 'utf8');
    // Every reload compiles the schema anew, and an older one may have the same `$id`.
    const own = compilerOf({ discriminator: true, strict: false });
    return checking(own.compile(JSON.parse(text) as AnySchema));
  } catch (error) {
    throw new OptionError(`the schema "${path}" cannot be used: ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  if (!(error instanceof Error)) return 'it cannot be read';
  return 'code' in error ? `it cannot be read (${String(error.code)})` : error.message;
}

/** A check that throws if the compiled schema refuses the data. */
export function checking(valid: ValidateFunction): Check {
  return (body) => {
    if (valid(body)) return;
    const { message, param } = explain(valid.errors ?? []);
    throw new GatewayError('invalid_request', message, param === '' ? {} : { param });
  };
}

/** Describes the first error of a body in a sentence, with the path of the field at fault. */
export function explain(errors: readonly ErrorObject[]): { message: string; param: string } {
  // An error of `if` only repeats the error of its branch.
  const error = errors.find(({ keyword }) => keyword !== 'if') ?? errors[0];
  if (!error) return { message: 'The body is not valid.', param: '' };
  const param = fieldOf(error);
  return { message: `${param === '' ? 'The body' : param} ${complaint(error)}.`, param };
}

/** `/messages/2/content` as clients write it: `messages[2].content`. */
function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const steps = instancePath.split('/').slice(1);
  if (keyword === 'required') steps.push(String(params['missingProperty']));
  if (keyword === 'additionalProperties') steps.push(String(params['additionalProperty']));
  if (keyword === 'discriminator') steps.push(String(params['tag']));
  return steps.map(unescape).reduce(join, '');
}

function unescape(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function join(path: string, step: string): string {
  if (/^\d+$/u.test(step)) return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

function complaint({ keyword, params, message, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${[params['type']].flat().map(kind).join(' or ')}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).filter(Boolean).join(', ')}`;
    case 'minimum':
      return `must be at least ${params['limit']}`;
    case 'maximum':
      return `must be at most ${params['limit']}`;
    case 'minItems':
    case 'minLength':
      return 'must not be empty';
    case 'maxItems':
      return `must have at most ${params['limit']} entries`;
    case 'maxLength':
      return `must have at most ${params['limit']} characters`;
    case 'pattern':
      return patternOf(parentSchema) ?? message ?? 'is not valid';
    case 'discriminator':
      return 'must be one of text, image_url, input_audio, file';
    case 'additionalProperties':
      return 'is not known here';
    default:
      return message ?? 'is not valid';
  }
}

/** The description of the text in the schema, up to its first semicolon. */
function patternOf(schema: ErrorObject['parentSchema']): string | undefined {
  const description: unknown = schema?.['description'];
  return typeof description === 'string' ? `must be ${description.split(';')[0]}` : undefined;
}

function kind(type: unknown): string {
  return KINDS[String(type)] ?? String(type);
}
