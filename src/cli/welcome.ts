import { resolve } from 'node:path';
import { formatDollars } from '../lib/money.js';
import type { Configuration } from '../core/configuration.js';
import type { FirstStart } from '../gateway/seed.js';
import { shellQuoted, shellWord } from '../lib/shell-quote.js';
import { written, type Address } from './listen.js';
import { counted, printLine } from './print.js';

/**
 * The text that `serve` prints once it takes requests: its address and, at the first start, a key
 * and a sample call.
 */
export function welcome(
  configuration: Configuration,
  address: Address,
  first: FirstStart | undefined,
): void {
  const url = `http://${written(address)}`;
  if (first) greet(configuration, url, first);
  printLine(`Tollgate is serving ${counted(configuration.models.size, 'model')} on ${url}`);
}

function greet(configuration: Configuration, url: string, first: FirstStart): void {
  const chat = [...configuration.models.values()].find(({ capabilities }) =>
    capabilities.has('chat'),
  );
  printLine(`This is the first start, so there is now an account "${first.account}"`);
  printLine(`with $${formatDollars(first.credit_nano)} of credit. Its API key, shown this once:\n`);
  printLine(`  ${first.secret}\n`);
  if (chat) showCall(url, first.secret, chat.id);
  if (!configuration.dashboard) return;
  printLine('Open the dashboard with the link that this prints:\n');
  const { file } = configuration;
  const config = file === resolve('gateway.yaml') ? '' : ` --config ${shellWord(file)}`;
  printLine(`  npx tollgate sign-in-link ${shellWord(first.account)} --operator${config}\n`);
}

function showCall(url: string, secret: string, model: string): void {
  const body = { model, messages: [{ role: 'user', content: 'Hello!' }] };
  printLine('Try it:\n');
  printLine(`  curl ${url}/v1/chat/completions \\`);
  printLine(`    -H 'Authorization: Bearer ${secret}' \\`);
  printLine(`    -H 'Content-Type: application/json' \\`);
  printLine(`    -d ${shellQuoted(JSON.stringify(body))}\n`);
}
