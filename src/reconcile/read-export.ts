import { once } from 'node:events';
import { createReadStream, openSync, readSync, closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CsvError, parse, type Info } from 'csv-parse';
import { LineCounter, parseDocument } from 'yaml';
import type { ExportFormat, ExportLine } from '../core/provider-export.js';
import { parseCounted } from '../lib/json-text.js';
import { isRecord } from '../lib/objects.js';
import { columnName, formatOf } from './export-formats.js';
import { ExportFault, exportRow, type Cells } from './export-row.js';

/** The most characters of a row, and of a JSON document that is not one object a line. */
const ROW_CHARACTERS = 1024 ** 2;
const DOCUMENT_CHARACTERS = 64 * 1024 ** 2;
/** A larger document is not searched for the line of a fault: that would take a minute. */
const SEARCHED_CHARACTERS = 4 * 1024 ** 2;

/** How a file is read: by a form whose columns are named, or by one of those that are known. */
interface ReadTerms {
  named?: ExportFormat;
  formats: readonly ExportFormat[];
}

/** A line of a file, with the form of the file, which days without usage do not tell. */
interface FormedLine {
  format?: ExportFormat;
  line: ExportLine;
}

/**
 * Reads an export row by row, packed with gzip or not: CSV, JSON of one object a line, or one JSON
 * document. Throws `ExportFault` for whatever is wrong with it.
 */
export async function* readExport(file: string, terms: ReadTerms): AsyncGenerator<FormedLine> {
  const start = startOf(file);
  if (start.startsWith('PK'))
    throw new ExportFault(`${file}: this is a ZIP archive: unpack it first`);
  if (start.startsWith('PAR1')) {
    throw new ExportFault(`${file}: this is Parquet: export it as CSV, or convert it`);
  }
  let format: ExportFormat | undefined;
  for await (const cells of rowsOf(file, start)) {
    if (isBucket(cells)) {
      yield { line: coverOf(cells) };
      continue;
    }
    format ??= formatFor(file, new Set(cells.texts.keys()), terms);
    const line = format.read(exportRow(cells));
    if (line) yield { format, line };
  }
}

function formatFor(file: string, columns: ReadonlySet<string>, terms: ReadTerms): ExportFormat {
  const { named, formats } = terms;
  const format = formatOf(columns, named ? [named] : formats);
  if (format) return format;
  const has = [...columns].slice(0, 30).join(', ');
  if (named) {
    const missing = named.columns[0]?.filter((name) => !columns.has(name)).join(', ');
    throw new ExportFault(`${file}:1:1: there is no column ${missing}; it has ${has}`);
  }
  throw new ExportFault(
    `${file}:1:1: this is no export that is known, by its columns: name them with --columns. ` +
      `It has ${has}`,
  );
}

/** The first bytes of a file as text. Throws `ExportFault` for one that cannot be read. */
function startOf(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const bytes = Buffer.alloc(4);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = UNREADABLE[code] ?? `it cannot be read (${code})`;
    throw new ExportFault(`${file}: ${reason}`, { cause: error });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a folder',
  EACCES: 'this user may not read it',
};

async function* rowsOf(file: string, start: string): AsyncGenerator<Cells> {
  const stream = start.startsWith('\u001f\u008b')
    ? pipeline(createReadStream(file), createGunzip(), () => undefined)
    : createReadStream(file);
  try {
    const first = await firstCharacter(stream);
    if (first === '{' || first === '[') yield* rowsOfJson(file, stream);
    else yield* rowsOfCsv(file, stream);
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
      throw new ExportFault(`${file}: the gzip file is damaged or not whole`);
    }
    throw error;
  } finally {
    stream.destroy();
  }
}

/** The first character that is no space. What was read goes back into the stream. */
async function firstCharacter(stream: Readable): Promise<string> {
  await once(stream, 'readable');
  const chunk = stream.read() as Buffer | null;
  if (!chunk) return '';
  stream.unshift(chunk);
  return /[^\s\uFEFF]/u.exec(chunk.toString('utf8', 0, ROW_CHARACTERS))?.[0] ?? '';
}

interface CsvRecord {
  record: string[];
  info: Info;
  raw: string;
}

async function* rowsOfCsv(file: string, stream: Readable): AsyncGenerator<Cells> {
  const parser = parse({
    bom: true,
    info: true,
    raw: true,
    skip_empty_lines: true,
    max_record_size: ROW_CHARACTERS,
  });
  pipeline(stream, parser, () => undefined);
  let heads: readonly string[] | undefined;
  try {
    for await (const { record, info, raw } of parser as AsyncIterable<CsvRecord>) {
      if (!heads) {
        heads = record.map(columnName);
        continue;
      }
      const columns = heads;
      yield {
        texts: new Map(columns.map((name, at) => [name, record[at] ?? ''])),
        placeOf: (name) => placeInRecord(file, info, raw, columns.indexOf(name)),
      };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === 'number' ? error.lines : 1;
    throw new ExportFault(`${file}:${line}:1: ${error.message}`);
  }
}

/** The place of a cell of a CSV record, whose last line the parser has counted. */
function placeInRecord(file: string, { lines }: Info, raw: string, index: number): string {
  const record = raw.replace(/\r?\n$/u, '');
  let at = 0;
  let isQuoted = false;
  for (let cell = 0; at < record.length && cell < index; at += 1) {
    if (record[at] === '"') isQuoted = !isQuoted;
    else if (record[at] === ',' && !isQuoted) cell += 1;
  }
  const before = record.slice(0, at).split('\n');
  const line = lines - (record.split('\n').length - before.length);
  return `${file}:${line}:${(before.at(-1)?.length ?? 0) + 1}`;
}

/** One object a line where the first line is whole JSON, else one document. */
async function* rowsOfJson(file: string, stream: Readable): AsyncGenerator<Cells> {
  let number = 0;
  let text = '';
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
    number += 1;
    const bare = number === 1 ? line.replace(/^\uFEFF/u, '') : line;
    if (text === '') {
      const value = parseCounted(bare);
      if (value !== undefined) {
        yield* rowsOfValue(value, (path) => placeInJson(file, bare, path, number));
        continue;
      }
      if (bare.trim() === '') continue;
      if (number > 1)
        throw new ExportFault(`${placeOfSyntax(file, bare, number)}: this is no JSON`);
    }
    text += `${bare}\n`;
    if (text.length > DOCUMENT_CHARACTERS) {
      throw new ExportFault(
        `${file}: the JSON is larger than 64 MB: export CSV, or JSON of one object a line`,
      );
    }
  }
  if (text === '') return;
  const value = parseCounted(text);
  if (value === undefined)
    throw new ExportFault(`${placeOfSyntax(file, text, 1)}: this is no JSON`);
  yield* rowsOfValue(value, (path) => placeInJson(file, text, path, 1));
}

type Path = readonly (string | number)[];
type PlaceOfPath = (path: Path) => string;

/**
 * The rows of a JSON value: itself, those of a list, those of `data`, and the `results` of a bucket
 * of time, each with the fields of its bucket.
 */
function* rowsOfValue(value: unknown, placeOf: PlaceOfPath, path: Path = []): Generator<Cells> {
  if (Array.isArray(value)) {
    for (const [at, part] of value.entries()) yield* rowsOfValue(part, placeOf, [...path, at]);
    return;
  }
  if (!isRecord(value)) throw new ExportFault(`${placeOf(path)}: this is neither object nor list`);
  if (Array.isArray(value.data)) {
    yield* rowsOfValue(value.data, placeOf, [...path, 'data']);
    return;
  }
  const { results, ...bucket } = value;
  const own = cellsOf(bucket, path);
  if (!Array.isArray(results)) {
    yield toCells(own, placeOf);
    return;
  }
  if (results.length === 0) yield toCells(new Map([...own, [BUCKET, noCell(path)]]), placeOf);
  for (const [at, result] of results.entries()) {
    const inner = [...path, 'results', at];
    if (!isRecord(result)) throw new ExportFault(`${placeOf(inner)}: this is no object`);
    yield toCells(new Map([...own, ...cellsOf(result, inner)]), placeOf);
  }
}

/** Marks the row of a bucket of time without results, which the export covers nevertheless. */
const BUCKET = 'bucket without results';

function isBucket({ texts }: Cells): boolean {
  return texts.has(BUCKET);
}

function coverOf(cells: Cells): ExportLine {
  return { day: exportRow(cells).day('start_time', 'starting_at') };
}

interface JsonCell {
  text: string;
  path: Path;
}

const noCell = (path: Path): JsonCell => ({ text: '', path });

function toCells(cells: ReadonlyMap<string, JsonCell>, placeOf: PlaceOfPath): Cells {
  return {
    texts: new Map([...cells].map(([name, { text }]) => [name, text])),
    placeOf: (name) => placeOf(cells.get(name)?.path ?? []),
  };
}

/** The scalars of an object, those of objects within it too; lists are left out. */
function cellsOf(value: object, path: Path, before = ''): Map<string, JsonCell> {
  const cells = new Map<string, JsonCell>();
  for (const [key, part] of Object.entries(value) as [string, unknown][]) {
    const name = `${before}${columnName(key)}`;
    const inner = [...path, key];
    if (isRecord(part)) {
      for (const [deeper, cell] of cellsOf(part, inner, `${name}_`)) cells.set(deeper, cell);
    } else if (typeof part === 'string' || typeof part === 'number' || typeof part === 'boolean') {
      cells.set(name, { text: String(part), path: inner });
    } else if (part === null) cells.set(name, noCell(inner));
  }
  return cells;
}

/** The place of a value of JSON; without line and column in a large document. */
function placeInJson(file: string, text: string, path: Path, first_line: number): string {
  if (text.length > SEARCHED_CHARACTERS) return `${file}: ${path.join('.')}`;
  const lines = new LineCounter();
  const node = parseDocument(text, { lineCounter: lines }).getIn(path, true);
  const [offset = 0] = isRecord(node) && Array.isArray(node.range) ? (node.range as number[]) : [];
  const { line, col } = lines.linePos(offset);
  return `${file}:${first_line + line - 1}:${col}`;
}

function placeOfSyntax(file: string, text: string, first_line: number): string {
  if (text.length > SEARCHED_CHARACTERS) return file;
  const [position] = parseDocument(text).errors[0]?.linePos ?? [];
  return `${file}:${first_line + (position?.line ?? 1) - 1}:${position?.col ?? 1}`;
}
