import type { Command } from 'commander';
import { formatDollars, roundedDollars, withDollarSign } from '../lib/money.js';
import { keptReport, type Reconciliation, type ReportedModel } from '../reconcile/report.js';
import { acting, command, repeated, UsageError, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { pluralize, printJson, printLine } from './print.js';
import { printRows } from './print-rows.js';
import { readWithoutSecrets } from './read-without-secrets.js';
import { withStore } from './store.js';

interface Options {
  config: string;
  provider?: string[];
  columns?: string;
  model?: string[];
  from?: string;
  to?: string;
  tolerance: string;
  days?: true;
  json?: true;
}

const DETAILS = `
FILE is what the provider exports of usage or costs, as JSON or CSV, packed with
gzip or not; docs/bills.md lists the forms that are known. Several files, such as
usage and costs, are read as one. Of another form name the columns: --columns
"day=Date,model=Model,input=Tokens in,output=Tokens out,cost=USD"; also calls,
prompt (all prompt tokens), cached_input, cache_write, cache_write_1h, audio_input,
image_input, audio_output and image_output. Days are those of UTC. The last
comparison of each provider is shown on the page Bills.
`;

/** `tollgate reconcile FILE... [--tolerance 1%] [--json]` */
export function reconcileCommand(): Command {
  return withConfig(
    command(
      'reconcile',
      "compare a provider's export of usage or costs with the ledger; exit 1 beyond the tolerance",
      'tollgate reconcile usage.json costs.json --provider openai',
    )
      .argument('<file...>', 'the export')
      .option('--provider <name>', 'the provider of gateway.yaml; may be repeated', repeated)
      .option('--columns <names>', 'the columns of a form that is not known')
      .option('--model <theirs=ours>', 'a name in the export, and the upstream model', repeated)
      .option('--from <day>', 'the first day; without it that of the export')
      .option('--to <day>', 'the last day; without it that of the export')
      .option('--tolerance <percent>', 'how much may differ, for each model and in all', '1%')
      .option('--days', 'show each day of each model')
      .option('--json', 'print one JSON document')
      .addHelpText('after', DETAILS)
      .action(acting(reconcileFiles)),
  );
}

async function reconcileFiles(files: string[], options: Options): Promise<void> {
  const { reconcile } = await import('../reconcile/reconcile.js');
  const { from, to } = options;
  const terms = {
    files,
    ...(await namedOf(options.columns)),
    providers: options.provider ?? [],
    models: namesOf(options.model ?? []),
    ...(from !== undefined && { from: dayOf(from) }),
    ...(to !== undefined && { to: dayOf(to) }),
    tolerance_percent: percentOf(options.tolerance),
  };
  const configuration = await readWithoutSecrets(options.config);
  const report = await withStore(options.config, async ({ reconciliations }) => {
    const made = await reconcile(terms, configuration, reconciliations, Date.now());
    await reconciliations.keep(made.providers, JSON.stringify(keptReport(made)));
    return made;
  });
  if (!report.within) commandIo().exit_status = 1;
  if (options.json) return printJson(report);
  printReport(report, options.days === true);
}

async function namedOf(columns: string | undefined) {
  if (columns === undefined) return {};
  const { namedFormat } = await import('../reconcile/export-formats.js');
  try {
    return { named: namedFormat(columns) };
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
}

function namesOf(texts: readonly string[]): Map<string, string> {
  return new Map(
    texts.map((text) => {
      const at = text.lastIndexOf('=');
      if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)] as const;
      throw new UsageError(`--model takes THEIRS=OURS, not "${text}"`);
    }),
  );
}

function dayOf(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/u.test(text) && !Number.isNaN(Date.parse(text));
  if (!isDay) throw new UsageError(`"${text}" is no day such as 2026-10-01`);
  return text;
}

function percentOf(text: string): number {
  const percent = /^\d{1,3}(?:\.\d{1,3})? ?%?$/u.test(text) ? Number.parseFloat(text) : NaN;
  if (percent <= 100) return percent;
  throw new UsageError(`--tolerance takes a percentage such as 1% or 0.5%, not "${text}"`);
}

function printReport(report: Reconciliation, is_by_day: boolean): void {
  const { first_day, last_day, models, unmatched, providers, formats } = report;
  printLine(`${providers.join(', ')}, ${first_day} to ${last_day} (${formats.join(', ')})\n`);
  printRows(rowsOf(models, is_by_day), false, 'Neither the export nor the ledger has a call.');
  for (const { model, causes } of models) {
    for (const { difference, text } of causes) {
      printLine(`\n${model}: ${difference === null ? '' : `${cents(difference)}, `}${text}`);
    }
  }
  for (const { name, cost, tokens, several } of unmatched) {
    const size = cost === null ? pluralize(tokens ?? 0, 'token') : cents(cost);
    const why =
      several.length > 0 ? `it could be ${several.join(' or ')}` : 'no model has that name';
    printLine(`\n"${name}", ${size}: ${why}; --model "${name}=MODEL" names it`);
  }
  printLine(`\n${verdictOf(report)}`);
}

function rowsOf(models: readonly ReportedModel[], is_by_day: boolean) {
  return models.flatMap((model) => {
    const parts = is_by_day ? model.days : [{ day: null, ...model }];
    return parts.map(({ day, bill, ledger, difference, percent }) => ({
      ...(is_by_day && { day }),
      model: model.model,
      bill_tokens: tokensIn(bill.tokens),
      ledger_tokens: tokensIn(ledger.tokens),
      bill: bill.cost && cents(bill.cost),
      ledger: ledger.cost && cents(ledger.cost),
      difference: difference && cents(difference),
      percent: `${percent} %`,
    }));
  });
}

function tokensIn(tokens: Record<string, number> | null): number | null {
  return tokens && Object.values(tokens).reduce((sum, count) => sum + count, 0);
}

function verdictOf(report: Reconciliation): string {
  const { difference, bill, ledger, within, tolerance_percent, percent } = report;
  const word = within ? 'Within' : 'Beyond';
  const told =
    difference === null || bill.cost === null || ledger.cost === null
      ? `the tokens differ by ${percent} %`
      : `${cents(bill.cost)} billed, ${cents(ledger.cost)} in the ledger, ` +
        `a difference of ${cents(difference)} (${percent} %)`;
  return `${word} the tolerance of ${tolerance_percent} %: ${told}.`;
}

/** Dollars rounded to cents. */
function cents(dollars: string): string {
  const nano = roundedDollars(dollars) ?? 0n;
  const half = nano < 0n ? -5_000_000n : 5_000_000n;
  return withDollarSign(formatDollars(((nano + half) / 10_000_000n) * 10_000_000n));
}
