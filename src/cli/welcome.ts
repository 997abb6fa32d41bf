import { relative, resolve } from 'node:path';
import { formatDollars } from '../lib/money.js';
import type { Configuration } from '../core/configuration.js';
import type { ValidCheck } from '../gateway/gateway.js';
import type { Seeded } from '../gateway/seed.js';
import { shellQuoted, shellWord } from '../lib/shell-quote.js';
import { written, type Address } from './listen.js';
import { pluralize, printJson, printLine, formatTime } from './print.js';

/**
 * The text that `serve` prints once it takes requests: its address, the number of warnings about
 * the file and, at the first start, a key, a sample call and a sign-in link; or these facts as one
 * JSON document.
 */
export function welcome(
  { configuration, faults }: Pick<ValidCheck, 'configuration' | 'faults'>,
  address: Address,
  first: Seeded | undefined,
  json?: boolean,
): void {
  const url = `http://${written(address)}`;
  const models = configuration.models.size;
  const warnings = faults.length;
  if (json) return printJson({ url, models, warnings, first_start: first ? shapeOf(first) : null });
  if (first) greet(configuration, url, first);
  printLine(`Tollgate is serving ${pluralize(models, 'model')} on ${url}`);
  if (warnings > 0) printLine(warningsText(configuration, warnings));
}

/** Says how many warnings the file has, and the command that shows them. */
export function warningsText({ file }: Configuration, warnings: number): string {
  const path = relative('.', file);
  return `${path} has ${pluralize(warnings, 'warning')}: tollgate check ${shellWord(path)}`;
}

function shapeOf({ account, credit_nano, secret, sign_in }: Seeded): object {
  return {
    account,
    credit: formatDollars(credit_nano),
    secret,
    sign_in_link: sign_in?.url ?? null,
    sign_in_expires: formatTime(sign_in?.due_ms ?? null),
  };
}

function greet(configuration: Configuration, url: string, first: Seeded): void {
  const chat = [...configuration.models.values()].find(({ capabilities }) =>
    capabilities.has('chat'),
  );
  printLine(`This is the first start, so there is now an account "${first.account}"`);
  printLine(`with $${formatDollars(first.credit_nano)} of credit. Its API key, shown this once:\n`);
  printLine(`  ${first.secret}\n`);
  if (chat) showCall(url, first.secret, chat.id);
  if (!first.sign_in) return;
  printLine('Open the dashboard as its operator, by a link that works once, within ten minutes:\n');
  printLine(`  ${first.sign_in.url}\n`);
  const { public_url } = configuration;
  if (public_url !== url) {
    printLine(`It begins with the public_url of the configuration, not with ${url}.\n`);
  }
  const { file } = configuration;
  const config = file === resolve('gateway.yaml') ? '' : ` --config ${shellWord(file)}`;
  printLine('This prints another one:\n');
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
