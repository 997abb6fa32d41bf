import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import { GatewayError } from '../core/errors.js';
import { compilerOfShipped, readShippedSchema } from '../lib/schemas.js';
import { explain } from './validation-error.js';
import { OptionError } from '../core/option-error.js';

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
