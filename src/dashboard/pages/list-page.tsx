import type { ComponentChildren, JSX } from 'preact';
import type { ActionCaller, ListAction } from '../../actions/action.js';
import { pageOf, readCursor } from '../../actions/cursor.js';
import { actionServices } from '../action-context.js';
import type { DashboardContext, DashboardServices } from '../types.js';
import { Icon } from './icons.js';
import { Card } from './parts.js';
import { Table, type Column } from './table.js';

const ROWS = 50;

/** The rows of a list that a page shows. */
export interface ListRows<Row> {
  rows: readonly Row[];
  next_cursor: string | null;
  /** Whether it is not the first page. */
  is_later: boolean;
}

/** Reads the page of a list that the address names by its cursor. */
export async function readListRows<Input extends object, Row>(
  { rows, place }: ListAction<Input, Row>,
  input: Input,
  caller: ActionCaller,
  { query: { cursor } }: DashboardContext,
  services: DashboardServices,
): Promise<ListRows<Row>> {
  const is_later = typeof cursor === 'string' && cursor !== '';
  if (!place) throw new Error('The list has no pages.');
  const after = is_later ? { after: readCursor(cursor, place.is) } : {};
  const found = await rows(actionServices(services), input, { limit: ROWS + 1, ...after }, caller);
  return { ...pageOf(found, ROWS, place.of), is_later };
}

/** A list that is one page. */
export function wholeList<Row>(rows: readonly Row[]): ListRows<Row> {
  return { rows, next_cursor: null, is_later: false };
}

/** The words of a list's address that name a page of it, or ask for a file. */
interface ListWords {
  cursor?: string;
  format?: 'csv';
}

/** A page of a list in a table, with links to its first and its next page, and to the file. */
export function ListPage<Row>(
  props: ListRows<Row> & {
    /** The title of the table. */
    title?: string;
    about?: string;
    /** The name of the table for screen readers. */
    label: string;
    columns: readonly Column<Row>[];
    /** The text in place of a table without rows. */
    empty: ComponentChildren;
    /** Further rows of the same file. */
    children?: ComponentChildren;
    /** The address of the list with these words; of its first page without any. */
    pathTo: (words: ListWords) => string;
    /** The names of the links. */
    first?: string;
    next?: string;
  },
): JSX.Element {
  const { title, about, rows, next_cursor, is_later, pathTo, empty, children } = props;
  const { first = 'First page', next = 'Next page' } = props;
  return (
    <>
      <Card title={title} about={about} flush>
        {rows.length > 0 ? <Table {...props} /> : empty}
      </Card>
      {children}
      {(rows.length > 0 || is_later || children) && (
        <div class="row">
          {is_later && (
            <a class="button" href={pathTo({})}>
              {first}
            </a>
          )}
          {next_cursor !== null && (
            <a class="button" href={pathTo({ cursor: next_cursor })}>
              {next}
            </a>
          )}
          {(rows.length > 0 || children) && <CsvLink path={pathTo({ format: 'csv' })} />}
        </div>
      )}
    </>
  );
}

/** The link to a file for spreadsheets. */
export function CsvLink({ path }: { path: string }): JSX.Element {
  return (
    <a class="button" href={path} download>
      <Icon name="download" />
      Download CSV
    </a>
  );
}

/** An address with those of the words that are not empty. */
export function addressOf(path: string, words: Record<string, string | undefined>): string {
  const given = Object.entries(words).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
