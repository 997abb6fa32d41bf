import { Readable } from 'node:stream';
import type { ActionCaller, ListAction } from '../actions/action.js';
import { csvOfList } from '../actions/csv.js';
import { actionServices } from './action-context.js';
import type { DashboardContext, DashboardServices } from './types.js';

/** Answers with a file for spreadsheets. */
export function sendCsv(ctx: DashboardContext, file: string, text: string | Readable): void {
  ctx.set('content-type', 'text/csv; charset=utf-8; header=present');
  ctx.set('content-disposition', `attachment; filename="${file}"`);
  ctx.body = text;
}

/** Whether the address of a list asks for a file for spreadsheets. */
export function wantsCsv({ query }: DashboardContext): boolean {
  return query.format === 'csv';
}

/**
 * Answers with all rows of a list, which are read as the client takes them. A fault before the
 * first page is one of the whole answer.
 */
export async function sendListCsv<Input extends object, Row>(
  list: ListAction<Input, Row>,
  input: Input,
  caller: ActionCaller,
  ctx: DashboardContext,
  services: DashboardServices,
): Promise<void> {
  const text = csvOfList(list, actionServices(services), input, caller);
  const first = await text.next();
  sendCsv(ctx, list.csv.file, Readable.from(joined(first.value ?? '', text)));
}

async function* joined(first: string, others: AsyncIterable<string>): AsyncGenerator<string, void> {
  yield first;
  yield* others;
}
