import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const compiled = new Map<string, ValidateFunction>();

/** Fails unless the value keeps the promise of `schemas/NAME.schema.json`, or `NAME#/$defs/PART`. */
export function expectShape(name: string, value: unknown): void {
  const valid = compiled.get(name) ?? compile(name);
  if (valid(value)) return;
  const complaints = ajv.errorsText(valid.errors, { dataVar: name });
  throw new Error(`${complaints}\nin ${JSON.stringify(value)}`);
}

function compile(name: string): ValidateFunction {
  const [whole = ''] = name.split('#');
  if (!ajv.getSchema(whole)) {
    const file = new URL(`../../schemas/${whole}.schema.json`, import.meta.url);
    ajv.addSchema(JSON.parse(readFileSync(file, 'utf8')) as object);
  }
  const valid = ajv.getSchema(name);
  if (!valid) throw new Error(`No schema is called ${name}.`);
  compiled.set(name, valid);
  return valid;
}
