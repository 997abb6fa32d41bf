import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';
import { withoutEditorParts } from '../src/lib/schemas.js';

const root = fileURLToPath(new URL('../', import.meta.url));

const FOLDER = `${root}src/schema-types`;

/** The schemas of which a folder of the source imports the types. */
function typesIn(folder: string): string[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const text = readFileSync(`${root}${folder}/${name}`, 'utf8');
      return [...text.matchAll(/\/schema-types\/([\w-]+)\.js'/gu)].map(([, type = '']) => type);
    });
}

/** The TypeScript text of one schema. */
async function typesOf(name: string): Promise<string> {
  const json = readFileSync(`${root}schemas/${name}.schema.json`, 'utf8');
  const parsed = withoutExtensions(JSON.parse(json) as object);
  const schema = forTypes(withoutEditorParts(parsed) as Schema);
  return compile(schema, name, {
    bannerComment: `// Made by \`npm run build\` from schemas/${name}.schema.json.`,
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    strictIndexSignatures: false,
    format: false,
  });
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
  const more = kinds?.properties;
  if (!properties || typeof more !== 'object') return part;
  return { ...part, properties: { ...properties, ...more, ...properties } };
}

/** Text, a number or a boolean. */
function isPlain({ type }: Schema): boolean {
  return typeof type === 'string' && !['object', 'array'].includes(type);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = [...new Set(['src', 'providers'].flatMap(typesIn))];
  const texts = await Promise.all(names.map(typesOf));
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  for (const [at, name] of names.entries()) writeFileSync(`${FOLDER}/${name}.ts`, texts[at] ?? '');
}
