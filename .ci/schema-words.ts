import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { MODALITIES } from '../src/modalities/index.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const FILE = `${root}schemas/gateway.schema.json`;

/**
 * The words that an editor completes and the schema does not demand, since an operator may have
 * more of them: by the `$defs` of gateway.schema.json whose `enum` they are.
 */
export function schemaWords(): Record<string, string[]> {
  const modalities = [...MODALITIES.values()];
  const formats = modalities.flatMap((modality) => modality.formats);
  return {
    manifest: readdirSync(`${root}providers`)
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => file.replace('.yaml', ''))
      .sort(),
    bodyFormat: formats.map(({ name }) => name),
    modelFormat: formats.flatMap(({ name, models }) => (models ? [name] : [])),
    operation: modalities.flatMap(({ operations }) => operations.map(({ name }) => name)),
    modality: [...MODALITIES.keys()],
  };
}

/** The text of gateway.schema.json with these words. Throws where a list has no place. */
export async function schemaWithWords(schema: string): Promise<string> {
  let text = schema;
  for (const [name, words] of Object.entries(schemaWords())) {
    const place = new RegExp(
      `("${name}": \\{\\s*"description": "[^"]*",\\s*"enum": )\\[[^\\]]*\\]`,
    );
    if (!place.test(text)) throw new Error(`gateway.schema.json has no enum in $defs.${name}.`);
    text = text.replace(place, (_all, before: string) => before + JSON.stringify(words));
  }
  return (await format('schema.json', text, { printWidth: 100 })).code;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(FILE, await schemaWithWords(readFileSync(FILE, 'utf8')));
}
