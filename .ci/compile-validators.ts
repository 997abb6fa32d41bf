import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import standalone from 'ajv/dist/standalone/index.js';
import {
  VALIDATOR_OPTIONS,
  compilerOf,
  compileShipped,
  schemaMark,
  type Checked,
} from '../src/lib/schemas.js';
import { MODALITIES } from '../src/modalities/index.js';

const FOLDER = fileURLToPath(new URL('../dist/validators/', import.meta.url));

const formats = [...MODALITIES.values()].flatMap((modality) => modality.formats);
const operations = [...MODALITIES.values()].flatMap((modality) => modality.operations);

/** The schemas by which a start checks something: compiling them would make it longer. */
export const BUILT_SCHEMAS: Partial<Record<Checked, readonly string[]>> = {
  file: ['gateway', 'price-bounds', 'prices', 'provider'],
  // What other processes say of themselves is checked with each heartbeat.
  input: ['box-report', 'outcome-report'],
  body: formats.map(({ name }) => name),
  form: [
    ...formats.filter(({ form }) => form).map(({ name }) => name),
    ...operations.flatMap(({ description }) => description?.query ?? []),
  ],
};

/** A CommonJS module that validates by one schema, marked with the texts that it was made from. */
export function validatorOf(name: string, checked: Checked): string {
  const compiler = compilerOf({ ...VALIDATOR_OPTIONS[checked], code: { source: true } });
  const { validator, parts } = compileShipped(compiler, name, checked);
  const marks = { parts, mark: schemaMark(parts) };
  const code = standalone.default(compiler, validator);
  return `${code}\nObject.assign(module.exports, ${JSON.stringify(marks)});\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await rm(FOLDER, { recursive: true, force: true });
  for (const [checked, names] of Object.entries(BUILT_SCHEMAS)) {
    for (const name of names) {
      const file = join(FOLDER, checked, `${name}.cjs`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, validatorOf(name, checked as Checked));
    }
  }
}
