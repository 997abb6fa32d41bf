import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import getRawBody from 'raw-body';
import { GatewayError, OptionError } from '../core/errors.js';
import { decode, LARGE_BYTES, weigh } from '../lib/json-text.js';
import { gather } from './large-body.js';
import type { Room } from './memory-budget.js';
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Ajv2020, type AnySchema, type ValidateFunction, type ErrorObject } from 'ajv/dist/2020.js';
import { compilerOfShipped, readShippedSchema } from '../lib/schemas.js';

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

/** Throws `GatewayError` (400, naming the field) for a body that breaks its schema. */
export type Check = (body: unknown) => void;

/** Stops at the first error: an attacker's body must not buy a long list. */
const ajv = compilerOfShipped({ discriminator: true, allowUnionTypes: true });
const shipped = new Map<string, Check>();

/** The check of a format's schema, `schemas/NAME.schema.json`, which may refine another one. */
export function compileShippedSchema(name: string): Check {
  let check = shipped.get(name);
  if (!check) {
    const schema = readShippedSchema(name);
    const { allOf: refined = [] } = schema as { allOf?: { $ref: string }[] };
    for (const { $ref } of refined) compileShippedSchema($ref);
    check = checking(ajv.compile(schema));
    shipped.set(name, check);
  }
  return check;
}

/** An operator's own schema, by its path from gateway.yaml. Throws `OptionError` if unusable. */
export function compileOwnSchema(path: string, configFile: string): Check {
  try {
    const file = resolve(dirname(configFile), path);
    if (!statSync(file).isFile()) throw new OptionError('it is no regular file');
    const text = readFileSync(file, 'utf8');
    // Read anew at every reload, so a schema must not meet its own `$id` in an older one.
    const own = new Ajv2020({ discriminator: true, strict: false });
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

/** What refuses data that a compiled schema does not take. */
export function checking(valid: ValidateFunction): Check {
  return (body) => {
    if (valid(body)) return;
    const { message, param } = explain(valid.errors ?? []);
    throw new GatewayError('invalid_request', message, param === '' ? {} : { param });
  };
}

/** What is wrong with a body, in one sentence, and the field that is at fault. */
export function explain(errors: readonly ErrorObject[]): { message: string; param: string } {
  // An `if` that failed only repeats what its branch has said.
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
      return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
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
      return 'must be one of text, image_url, input_audio';
    case 'additionalProperties':
      return 'is not known here';
    default:
      return message ?? 'is not valid';
  }
}

/** What the schema says that the text should be, as far as its first semicolon. */
function patternOf(schema: ErrorObject['parentSchema']): string | undefined {
  const description: unknown = schema?.['description'];
  return typeof description === 'string' ? `must be ${description.split(';')[0]}` : undefined;
}

function kind(type: unknown): string {
  return KINDS[String(type)] ?? String(type);
}

/** The most that the header `tollgate-ignored` may hold: names are the client's to choose. */
const HEADER_CHARACTERS = 1_000;

/** A field name as a header can carry it: no line breaks, no other alphabets, not too long. */
export function headerSafe(name: string): string {
  return name.replaceAll(/[^\w.[\]-]/gu, '?').slice(0, 64);
}

/** Adds the names that are not known to those that were left out. */
export function noteExtras(
  value: object,
  known: ReadonlySet<string>,
  where: string,
  ignored: Set<string>,
): void {
  for (const name in value) {
    if (!known.has(name)) ignored.add(`${where}.${headerSafe(name)}`);
  }
}

/** The value of `tollgate-ignored`: the names of the fields that were left out. */
export function ignoredHeader(names: readonly string[]): string {
  const all = names.join(', ');
  if (all.length <= HEADER_CHARACTERS) return all;
  return `${all.slice(0, all.lastIndexOf(', ', HEADER_CHARACTERS))}, ...`;
}
