import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { BUILT_OPTIONS, fileSchema, schemaMark } from '../src/lib/schemas.js';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The schemas of the operator's files: compiling them would take a third of a start. */
const BUILT_SCHEMAS = ['gateway', 'prices', 'provider'];

/** A CommonJS module that validates by one schema, marked with the text that it was made from. */
export async function validatorOf(name: string): Promise<string> {
  const text = await readFile(`${root}schemas/${name}.schema.json`, 'utf8');
  const compiler = new Ajv2020({ ...BUILT_OPTIONS, code: { source: true } });
  const code = standalone.default(compiler, compiler.compile(fileSchema(text)));
  return `${code}\nmodule.exports.mark = ${JSON.stringify(schemaMark(text))};\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await mkdir(`${root}dist/validators`, { recursive: true });
  for (const name of BUILT_SCHEMAS) {
    await writeFile(`${root}dist/validators/${name}.cjs`, await validatorOf(name));
  }
}
