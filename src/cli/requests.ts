import type { Command } from 'commander';
import type { RequestRecord } from '../core/request-record.js';
import type { RequestFilter } from '../store/requests/request-types.js';
import type { Store } from '../store/store-types.js';
import { acting, command, UsageError, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { followRequests } from './follow-requests.js';
import { paged, pageOf, type PageOptions } from './listing.js';
import { namesOf } from './names.js';
import { printJson, printLine } from './print.js';
import { printRows } from './print-rows.js';
import { recordRow, recordView } from './record-view.js';
import { untilStopped } from './signals.js';
import { accountCalled, withStore } from './store.js';
import { columnsOf, hasColours } from './terminal.js';

interface Options extends PageOptions {
  config: string;
  follow?: true;
  status?: string;
  model?: string;
  agent?: string;
  account?: string;
  json?: true;
}

const ROWS = 50;
/** The number of earlier requests that `--follow` shows first. */
const ROWS_BEFORE = 10;

const DETAILS = `
The newest request comes first; with --follow the oldest, and then each one when
it has ended, until Ctrl+C. --json prints one document, and with --follow one
record a line.
`;

/** `tollgate requests [--follow] [--limit N] [--since T] [--status S] [--model M] [--agent A] …` */
export function requestsCommand(): Command {
  const words = command(
    'requests',
    'show requests, their upstreams and their outcomes',
    'tollgate requests --status 5xx --since 2h',
  );
  return withConfig(
    paged(words, `${ROWS}; ${ROWS_BEFORE} with --follow`)
      .option('--follow', 'then show each request when it has ended')
      .option('--status <status>', 'only this status, a class such as 5xx, or "failed"')
      .option('--model <id>', 'only requests for this model')
      .option('--agent <name>', 'only requests of this client program, such as codex')
      .option('--account <account>', "only this account's, by name or id")
      .option('--json', 'print one JSON document; with --follow one record a line')
      .addHelpText('after', DETAILS)
      .action(acting(requests)),
  );
}

async function requests(options: Options): Promise<void> {
  const { follow, json } = options;
  const { limit, since_ms } = pageOf(options, Date.now(), follow ? ROWS_BEFORE : ROWS);
  const status = options.status === undefined ? {} : statusOf(options.status);
  await withStore(options.config, async (store) => {
    const filter: RequestFilter = {
      ...(since_ms !== undefined && { from_ms: since_ms }),
      ...status,
      ...(options.model !== undefined && { model: options.model }),
      ...(options.agent !== undefined && { agent: options.agent }),
      ...(options.account !== undefined && {
        account_id: (await accountCalled(store, options.account)).id,
      }),
    };
    if (follow) return followAll(store, filter, limit, printer(json));
    const records = await store.requests.page({ ...filter, limit });
    if (json) return printJson(records.map(recordView));
    const names = namesOf(store);
    const rows = records.map(async (one) => recordRow(one, await names.account(one.account_id)));
    printRows(await Promise.all(rows), false, 'There is no such request.');
  });
}

/** The exact status, for a class its first digit, or all failures. Throws `UsageError`. */
function statusOf(text: string): Pick<RequestFilter, 'status' | 'failed'> {
  if (text === 'failed') return { failed: true };
  const status = /^[1-5]xx$/iu.test(text) ? Number(text[0]) : Number(text);
  if (/^[1-5](?:xx|\d\d)$/iu.test(text)) return { status };
  throw new UsageError(`"${text}" is not a status such as 502, a class such as 5xx, or failed`);
}

function followAll(
  store: Store,
  filter: RequestFilter,
  limit: number,
  print: (record: RequestRecord) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  void untilStopped().then(() => stop.abort());
  // The reader of a pipe may close it, as `head` does.
  process.stdout.once('error', () => stop.abort());
  return followRequests(store.requests, { filter, limit, print, signal: stop.signal });
}

function printer(json: true | undefined): (record: RequestRecord) => Promise<void> {
  if (json) {
    return async (record) => printLine(JSON.stringify(recordView(record)));
  }
  return async (record) => {
    const { lineOf, textOfLine } = await import('../telemetry/access-log.js');
    const { inColour, plain } = await import('../lib/colour.js');
    const { stdout, env } = commandIo();
    const paint = hasColours(stdout, env) ? inColour : plain;
    const line = lineOf(record, record.endpoint, record.time_ms);
    printLine(textOfLine(line, paint, columnsOf(stdout, env)).trimEnd());
  };
}
