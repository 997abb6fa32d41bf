import { GatewayError, OptionError } from '../core/errors.js';
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { AnySchema, ValidateFunction, ErrorObject } from 'ajv/dist/2020.js';
import { compilerOf, validatorOfShipped } from '../lib/schemas.js';

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
  if (keyword === 'required') steps.push(String(params.missingProperty));
  if (keyword === 'additionalProperties') steps.push(String(params.additionalProperty));
  if (keyword === 'discriminator') steps.push(String(params.tag));
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
      return `must be ${[params.type].flat().map(kind).join(' or ')}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).filter(Boolean).join(', ')}`;
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      return `must be at most ${params.limit}`;
    case 'minItems':
    case 'minLength':
      return 'must not be empty';
    case 'maxItems':
      return `must have at most ${params.limit} entries`;
    case 'maxLength':
      return `must have at most ${params.limit} characters`;
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
  const description: unknown = schema?.description;
  return typeof description === 'string' ? `must be ${description.split(';')[0]}` : undefined;
}

function kind(type: unknown): string {
  return KINDS[String(type)] ?? String(type);
}
