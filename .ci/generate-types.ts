import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';
import { format } from 'oxfmt';
import { withoutEditorParts } from '../src/lib/schemas.js';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The schemas of which the source imports the types, from `src/schema-types/`. */
export const TYPED_SCHEMAS: readonly string[] = [
  ...new Set(['src', 'providers'].flatMap(typesIn)),
].toSorted();

function typesIn(folder: string): string[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const text = readFileSync(`${root}${folder}/${name}`, 'utf8');
      return [...text.matchAll(/\/schema-types\/([\w-]+)\.js'/gu)].map(([, type = '']) => type);
    });
}

/** The TypeScript text of one schema, as it must stand in `src/schema-types/NAME.ts`. */
export async function typesOf(name: string): Promise<string> {
  const json = await readFile(`${root}schemas/${name}.schema.json`, 'utf8');
  const parsed = withoutExtensions(JSON.parse(json) as object);
  const schema = forTypes(withoutEditorParts(parsed) as Schema);
  const text = await compile(schema, name, {
    bannerComment: `// Made by \`npm run types\` from schemas/${name}.schema.json.`,
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    strictIndexSignatures: false,
    format: false,
  });
  const { code } = await format('types.ts', text, { printWidth: COLUMNS, singleQuote: true });
  return tidyComments(code);
}

/** Keys that begin with `x-` may stand in a file, and nothing reads them. */
function withoutExtensions(schema: object): object {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'patternProperties' && JSON.stringify(value).startsWith('{"^x-"') ? undefined : value,
  );
  return JSON.parse(text) as object;
}

interface Schema {
  readonly [key: string]: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/**
 * The schema as its types need it. What a key says beside a `$ref` would make a second type of the
 * same shape: the key of a plain value keeps its words and takes the place of the `$ref`, any other
 * keeps the `$ref`. The fields that only some kinds of an object have are fields of its one type.
 */
function forTypes(whole: Schema): Schema {
  const prepared = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(prepared);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref, ...own } = withKinds(part as Schema);
    const target = whole.$defs?.[$ref?.replace('#/$defs/', '') ?? ''];
    if (target && isPlain(target)) return 'description' in own ? { ...target, ...own } : part;
    if ($ref !== undefined) return { $ref };
    return Object.fromEntries(
      Object.entries(own).flatMap(([key, value]) =>
        key === 'defaultSnippets' ? [] : [[key === 'x-type' ? 'title' : key, prepared(value)]],
      ),
    );
  };
  return prepared(whole) as Schema;
}

/** A schema whose own fields are followed by those of its `then`. */
function withKinds(part: Schema): Schema {
  const { properties, then: kinds } = part as { properties?: object; then?: Schema };
  const more = kinds?.['properties'];
  if (!properties || typeof more !== 'object') return part;
  return { ...part, properties: { ...properties, ...more, ...properties } };
}

/** Text, a number or a boolean. */
function isPlain({ type }: Schema): boolean {
  return typeof type === 'string' && !['object', 'array'].includes(type);
}

const COLUMNS = 100;

/** Bounds of lists and origins of patterns say nothing in a type; long lines are wrapped. */
function tidyComments(text: string): string {
  return text.replaceAll(
    /^( *)\/\*\*\n([^]*?)\n *\*\/\n/gm,
    (_all, indent: string, body: string) => {
      const paragraphs = body
        .replaceAll(/^ *\* ?(@(min|max)Items.*)?/gm, '')
        .split(/\n\s*\n/)
        .map((one) => one.trim().replaceAll(/\s+/g, ' '))
        .filter((one) => one !== '' && !one.startsWith('This interface was referenced'));
      const [only = ''] = paragraphs;
      if (only === '') return '';
      const line = `${indent}/** ${only} */\n`;
      if (paragraphs.length === 1 && line.length <= COLUMNS + 1) return line;
      const lines = paragraphs.flatMap((one, i) => [
        ...(i > 0 ? [''] : []),
        ...wrapped(one, COLUMNS - indent.length - 3),
      ]);
      const said = lines.map((one) => `${indent} *${one && ` ${one}`}\n`).join('');
      return `${indent}/**\n${said}${indent} */\n`;
    },
  );
}

function wrapped(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of TYPED_SCHEMAS) {
    await writeFile(`${root}src/schema-types/${name}.ts`, await typesOf(name));
  }
}
