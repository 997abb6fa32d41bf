import { readdir } from 'node:fs/promises';
import {
  EXPORT_CLASSES,
  type ExportClass,
  type ExportFormat,
  type ExportRow,
} from '../core/provider-export.js';

/** The folder of the forms: beside `src/`, compiled or not, like this file. */
const FOLDER = new URL('../../providers/exports/', import.meta.url);

/** All forms in which providers export usage or costs. */
export async function exportFormats(): Promise<ExportFormat[]> {
  const files = await readdir(FOLDER);
  const names = files.flatMap((file) => /^([a-z0-9-]+)\.[jt]s$/u.exec(file)?.[1] ?? []);
  const modules = await Promise.all(
    names.sort().map((name) => import(new URL(`${name}.js`, FOLDER).href) as Promise<FormatModule>),
  );
  return modules.map(({ format }) => format);
}

interface FormatModule {
  format: ExportFormat;
}

/** The name of a column in lower case: `lineItem/UsageType` is `line_item_usage_type`. */
export function columnName(head: string): string {
  return head
    .trim()
    .replaceAll(/([a-z0-9])([A-Z])/gu, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/gu, '_')
    .replaceAll(/^_|_$/gu, '')
    .toLowerCase();
}

/** The form of a file with these columns. */
export function formatOf(
  columns: ReadonlySet<string>,
  formats: readonly ExportFormat[],
): ExportFormat | undefined {
  return formats.find((format) =>
    format.columns.some((list) => list.every((name) => columns.has(name))),
  );
}

const NAMED = ['day', 'model', 'calls', 'cost', 'prompt', ...EXPORT_CLASSES] as const;

/** What `--columns` can name, and what of it must be there. */
type Named = (typeof NAMED)[number];

/**
 * The form of a file whose columns are named, as in `day=Date,model=Model,input=Tokens in`. The
 * column `prompt` has all prompt tokens, from which the classes that are named too are taken.
 * Throws `RangeError` with a sentence for anything else.
 */
export function namedFormat(text: string): ExportFormat {
  const columns = new Map<Named, string>();
  for (const part of text.split(',')) {
    const [name = '', ...rest] = part.split('=');
    const known = NAMED.find((one) => one === name.trim());
    const column = columnName(rest.join('='));
    if (known === undefined || column === '') {
      throw new RangeError(
        `"${part}" is not NAME=COLUMN with one of the names ${NAMED.join(', ')}`,
      );
    }
    columns.set(known, column);
  }
  if (!columns.has('day') || columns.size < 2) {
    throw new RangeError('the columns need a day, and tokens, calls or a cost');
  }
  const classes = EXPORT_CLASSES.filter((name) => columns.has(name) || isPrompt(name, columns));
  return {
    name: 'columns',
    manifests: [],
    columns: [[...columns.values()]],
    classes,
    read: (row) => readNamed(row, columns, classes),
  };
}

function isPrompt(name: ExportClass, columns: ReadonlyMap<Named, string>): boolean {
  return name === 'input' && columns.has('prompt');
}

function readNamed(
  row: ExportRow,
  columns: ReadonlyMap<Named, string>,
  classes: readonly ExportClass[],
): ReturnType<ExportFormat['read']> {
  const at = (name: Named): string => columns.get(name) ?? '';
  const tokens = Object.fromEntries(
    classes.map((name) => [name, columns.has(name) ? row.count(at(name)) : 0]),
  ) as Partial<Record<ExportClass, number>>;
  if (columns.has('prompt')) {
    const { cached_input = 0, cache_write = 0, cache_write_1h = 0 } = tokens;
    const { audio_input = 0, image_input = 0 } = tokens;
    const told = cached_input + cache_write + cache_write_1h + audio_input + image_input;
    tokens.input = row.count(at('prompt')) - told;
  }
  return {
    day: row.day(at('day')),
    model: columns.has('model') ? row.text(at('model')) : '',
    ...(classes.length > 0 && { tokens }),
    ...(columns.has('calls') && { calls: row.count(at('calls')) }),
    ...(columns.has('cost') && { cost_nano: row.nano(at('cost')) }),
  };
}
