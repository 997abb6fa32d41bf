import { formatDollars } from '../billing/money.js';
import type { Configuration } from '../config/types.js';
import type { FirstStart } from '../first-start.js';
import { written, type Address } from './listen.js';
import { counted, printLine } from './print.js';

/** What `serve` says once it takes requests: where it is and, the first time, how to call it. */
export function welcome(
  configuration: Configuration,
  address: Address,
  first: FirstStart | undefined,
): void {
  const url = `http://${written(address)}`;
  if (first) greet(configuration, url, first);
  printLine(`Tollgate is serving ${counted(configuration.models.size, 'model')} on ${url}`);
}

function greet({ models }: Configuration, url: string, first: FirstStart): void {
  const chat = [...models.values()].find(({ capabilities }) => capabilities.has('chat'));
  const body = { model: chat?.id ?? '', messages: [{ role: 'user', content: 'Hello!' }] };
  printLine(`This is the first start, so there is now an account "${first.account}"`);
  printLine(`with $${formatDollars(first.credit_nano)} of credit. Its API key, shown this once:\n`);
  printLine(`  ${first.secret}\n`);
  if (!chat) return;
  printLine('Try it:\n');
  printLine(`  curl ${url}/v1/chat/completions \\`);
  printLine(`    -H 'Authorization: Bearer ${first.secret}' \\`);
  printLine(`    -H 'Content-Type: application/json' \\`);
  printLine(`    -d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'\n`);
}
