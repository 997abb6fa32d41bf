import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { parse } from 'yaml';
import { CAPABILITIES } from '../src/core/model.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const PAGE = `${root}docs/providers.md`;
const BEGIN = '<!-- The table of providers is made by `npm run providers`. -->';
const END = '<!-- The end of the table of providers. -->';

interface Manifest {
  name: string;
  base_url?: string;
  in_process?: string;
  auth?: string | { header?: string; required?: boolean; signer?: string };
  operations: Record<string, { max?: number; image_urls?: string } | undefined>;
  drop?: string[];
  rename?: Record<string, string>;
  on_abort?: string;
  hidden_tokens?: { base?: number; tools?: number };
  wire?: Record<string, unknown>;
}

/** The kinds of work whose results are counted. */
const PLURALS: Readonly<Record<string, string>> = {
  embedding: 'embeddings',
  image: 'images',
  video: 'videos',
};

/** What a wire flag means to the reader of the table; a flag that is not here says nothing. */
const FLAGS: Record<string, (value: unknown) => string> = {
  stream_options: () => 'gives usage unasked',
  completion_from_total: () => 'counts reasoning in the total alone',
  think_tags: () => 'takes `<think>` out of the text',
  tool_id_length: (length) => `tool call ids of ${String(length)} characters`,
  reasoning_back: (field) =>
    field === 'tool_reasoning_content'
      ? 'wants `reasoning_content` back with tool calls'
      : `gets reasoning back as \`${String(field)}\``,
  thought_signatures: () => 'gets thought signatures back',
  cache_control: () => 'keeps `cache_control`',
  files: () => 'takes files',
  text_content: () => 'takes text as one text',
  effort: (how) =>
    how === 'none_as_thinking'
      ? 'effort `none` as `thinking`'
      : `\`reasoning_effort\` as \`${String(how)}\``,
  max_completion_tokens: () => '`max_completion_tokens` for reasoning models',
  custom_tools: () => 'custom tools for newer models',
  responses: () => 'the Responses API where chat completions refuse a model',
  compaction: () => 'compacts conversations of the Responses API',
  max_stops: (most) => `at most ${String(most)} stop sequences`,
  effort_values: () => '`reasoning_effort` only for models that take it',
  openai_models: () => 'leaves out what a reasoning model refuses',
  refused_fields: (fields) => {
    const names = new Set(Object.values(fields as Record<string, string[]>).flat());
    return `some models refuse ${[...names].map((name) => `\`${name}\``).join(', ')}`;
  },
  message_names: () => '`name` of some messages only, or of none',
  json_schema: () => 'JSON schemas as a system message',
  forced_tools: () => 'no thinking where a tool is forced',
};

/** The table of docs/providers.md: every manifest, what it serves, and its quirks. */
export async function providerTable(): Promise<string> {
  const rows = readdirSync(`${root}providers`)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => {
      const manifest = parse(readFileSync(`${root}providers/${file}`, 'utf8')) as Manifest;
      return { id: file.replace('.yaml', ''), manifest };
    })
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, manifest }) =>
      [`\`${id}\``, manifest.name, serves(manifest), keyOf(manifest), quirks(manifest)].join(' | '),
    );
  const table = ['manifest | provider | serves | key | quirks', '--- | --- | --- | --- | ---'];
  const text = [...table, ...rows].map((row) => `| ${row} |`).join('\n');
  return (await format('table.md', text, { printWidth: 100 })).code.trim();
}

/** The part of the page between the marks. Throws where a mark is missing. */
export function tableIn(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('docs/providers.md has no place for the table.');
  return page.slice(begin + BEGIN.length, end).trim();
}

function serves({ operations }: Manifest): string {
  const works: readonly string[] = CAPABILITIES;
  const served = Object.keys(operations)
    .map((name) => name.split('.')[0] ?? '')
    .filter((work) => works.includes(work));
  return [...new Set(served.map((work) => PLURALS[work] ?? work))].join(', ');
}

function keyOf({ auth, in_process, base_url = '', wire = {} }: Manifest): string {
  if (in_process || auth === 'none') return 'none';
  const texts = [base_url, ...Object.values(wire).filter((value) => typeof value === 'string')];
  const parts = [...texts.join(' ').matchAll(/\{(\w+)(=?)/gu)].map(
    ([, name = '', optional]) => `\`${name}\`${optional ? ' (optional)' : ''}`,
  );
  if (typeof auth === 'object' && auth.signer !== undefined) {
    const keys = '`access_key_id` and `secret_access_key`, or `api_key`';
    return [keys, ...parts].join('; ');
  }
  const isOptional =
    auth === 'optional-bearer' || (typeof auth === 'object' && auth.required === false);
  const key = isOptional ? '`api_key` (optional)' : '`api_key`';
  return [key, ...parts, ...(base_url ? [] : ['`base_url`'])].join(', ');
}

function quirks(manifest: Manifest): string {
  const { drop = [], rename = {}, hidden_tokens, on_abort, wire = {} } = manifest;
  const operations = Object.values(manifest.operations);
  const renamed = Object.entries(rename).map(([from, to]) => `\`${from}\` as \`${to}\``);
  return [
    ...Object.entries(wire).flatMap(([flag, value]) => FLAGS[flag]?.(value) ?? []),
    ...(operations.some((one) => one?.image_urls === 'bytes') ? ['gets images as bytes'] : []),
    ...(manifest.operations.chat?.max === 1 ? ['`n` by several calls'] : []),
    ...(renamed.length > 0 ? [renamed.join(', ')] : []),
    ...(drop.length > 0 ? [`leaves out ${drop.map((name) => `\`${name}\``).join(', ')}`] : []),
    ...(hidden_tokens ? ['adds instructions to the prompt'] : []),
    ...(on_abort === 'abort' || manifest.in_process ? [] : ['bills on after an abort']),
  ].join('; ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = readFileSync(PAGE, 'utf8');
  const table = await providerTable();
  writeFileSync(
    PAGE,
    page.replace(tableIn(page), () => table),
  );
}
