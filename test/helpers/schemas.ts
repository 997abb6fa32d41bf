import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const compiled = new Map<string, ValidateFunction>();

/** Fails the test unless the value keeps the promise of `schemas/NAME.schema.json`. */
export function expectShape(name: string, value: unknown): void {
  const valid = compiled.get(name) ?? compile(name);
  if (valid(value)) return;
  const complaints = ajv.errorsText(valid.errors, { dataVar: name });
  throw new Error(`${complaints}\nin ${JSON.stringify(value)}`);
}

function compile(name: string): ValidateFunction {
  const file = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
  const valid = ajv.compile(JSON.parse(readFileSync(file, 'utf8')) as object);
  compiled.set(name, valid);
  return valid;
}
