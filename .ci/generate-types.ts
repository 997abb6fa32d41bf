import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';
import { format } from 'prettier';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The schemas whose data the source reads by name; each has its types in `src/schema-types/`. */
export const TYPED_SCHEMAS = [
  'account-creation',
  'account-credit',
  'account-query',
  'chat-completion',
  'completions',
  'embedding',
  'gateway',
  'generate-content',
  'image-edit',
  'image-generation',
  'key-creation',
  'ledger-query',
  'messages',
  'moderation',
  'prices',
  'provider',
  'responses',
  'speech',
  'transcription',
  'task-query',
  'usage-query',
  'video-submission',
];

/** The TypeScript text of one schema, as it must stand in `src/schema-types/NAME.ts`. */
export async function typesOf(name: string): Promise<string> {
  const schema = JSON.parse(await readFile(`${root}schemas/${name}.schema.json`, 'utf8')) as object;
  const text = await compile(schema, name, {
    bannerComment: `// Made by \`npm run types\` from schemas/${name}.schema.json.`,
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    strictIndexSignatures: false,
    format: false,
  });
  return format(tidyComments(text), { parser: 'typescript', printWidth: 100, singleQuote: true });
}

/** Bounds of lists say nothing in a type; comments that are short or empty need no three lines. */
function tidyComments(text: string): string {
  return text
    .replaceAll(/^\s*\* @(min|max)Items.*\n/gm, '')
    .replaceAll(/^\s*\/\*\*\s*\*\/\n/gm, '')
    .replaceAll(/\/\*\*\n\s*\* (.{1,80})\n\s*\*\//g, '/** $1 */')
    .replaceAll(/^( \* .{1,96}) /gm, (line) =>
      line.length > 90 ? `${line.trimEnd()}\n * ` : line,
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of TYPED_SCHEMAS) {
    await writeFile(`${root}src/schema-types/${name}.ts`, await typesOf(name));
  }
}
