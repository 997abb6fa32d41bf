import { readFileSync } from 'node:fs';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';

const file = new URL('../../../../schemas/management-answers.schema.json', import.meta.url);
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
ajv.addSchema(JSON.parse(readFileSync(file, 'utf8')) as AnySchemaObject);

/** Fails the test unless the value is what `management-answers` calls by that name. */
export function expectAnswer(name: string, value: unknown): void {
  const valid = ajv.getSchema(`management-answers#/$defs/${name}`);
  if (!valid) throw new Error(`No answer is called ${name}.`);
  if (valid(value)) return;
  const complaints = ajv.errorsText(valid.errors, { dataVar: name });
  throw new Error(`${complaints}\nin ${JSON.stringify(value)}`);
}
