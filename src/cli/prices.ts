import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import type { ListChange, OwnAmount, PriceUpdate } from '../gateway/price-update.js';
import { fileFault } from '../lib/file-fault.js';
import { replaceFile } from '../lib/replace-file.js';
import { acting, command, group, UsageError } from './command.js';
import { pluralize, printJson, printLine } from './print.js';

interface Options {
  config: string;
  from?: string;
  dryRun?: true;
  json?: true;
}

const DETAILS = `
Nothing changes for clients until the gateway starts or reloads: read the
difference, and the pages of the providers, before it does. Prices written in
gateway.yaml stay as they are.
`;

/** `tollgate prices update [--from models.dev|FILE|FOLDER|URL] [--dry-run] [--json]` */
export function pricesCommand(): Command {
  const update = command(
    'update',
    'write the list prices of a public catalogue beside the configuration',
    'tollgate prices update --from models.dev',
  )
    .option('--from <place>', 'models.dev, a file, a folder or a URL', 'models.dev')
    .option('--dry-run', 'show the difference and write nothing')
    .option('--json', 'print one JSON document')
    .addHelpText('after', DETAILS)
    .action(acting(updatePrices));
  return group('prices', 'keep the list prices up to date', 'tollgate prices update', [update]);
}

async function updatePrices({ config, from, dryRun, json }: Options): Promise<void> {
  const { readCatalogue } = await import('../catalogue/read-catalogue.js');
  const { planUpdate } = await import('../gateway/price-update.js');
  const catalogue = await readCatalogue(from);
  const plan = await planUpdate(config, catalogue, await dayOf(catalogue.source, Date.now()));
  const isWritten = dryRun !== true;
  if (isWritten) await write(plan.file, plan.text);
  const { text: _, ...shown } = plan;
  if (json) return printJson({ ...shown, written: isWritten });
  for (const line of linesOf(plan)) printLine(line);
  printLine(isWritten ? `Written: ${plan.file}` : `Not written: ${plan.file}`);
}

/** The day of a file that lies here, if its file system knows; a download is of today. */
async function dayOf(source: string, now_ms: number): Promise<string> {
  const info = await stat(source).catch(() => undefined);
  const known_ms = info?.isFile() && info.mtimeMs > FIRST_MS ? info.mtimeMs : now_ms;
  return new Date(Math.min(known_ms, now_ms)).toISOString().slice(0, 10);
}

/** Archives leave files with days of long ago. */
const FIRST_MS = Date.UTC(2023, 0, 1);

async function write(file: string, text: string): Promise<void> {
  try {
    await replaceFile(file, text);
  } catch (error) {
    const fault = fileFault(file, error);
    throw fault === undefined ? error : new UsageError(fault);
  }
}

function linesOf({ source, date, skipped, changes, own }: PriceUpdate): string[] {
  const hit = changes.filter(({ paid_by }) => paid_by.length > 0);
  const others = changes.filter(({ paid_by }) => paid_by.length === 0);
  return [
    `The list of ${date}, from ${source}.`,
    ...(skipped > 0 ? [`${pluralize(skipped, 'entry', 'entries')} could not be read.`] : []),
    ...(hit.length > 0
      ? ['', 'Models at their list price pay from the next start or reload on:']
      : []),
    ...hit.toSorted((one, other) => rankOf(one) - rankOf(other)).map(changeText),
    ...(own.length > 0 ? ['', 'Prices of the configuration that are not those of the list:'] : []),
    ...own.map(ownText),
    '',
    countText(others),
  ];
}

const ORDER = ['rises', 'mixed', 'gone', 'falls', 'new'];

function rankOf({ kind }: ListChange): number {
  return ORDER.indexOf(kind);
}

const MARKS: Readonly<Record<ListChange['kind'], string>> = {
  rises: '+',
  mixed: '~',
  gone: '!',
  falls: '-',
  new: ' ',
};

function changeText({ manifest, model, kind, amounts, paid_by }: ListChange): string {
  const texts = amounts.map(({ unit, before, after }) => {
    if (before === null) return `${unit} ${after}`;
    return after === null ? `${unit} has no price any more` : `${unit} ${before} -> ${after}`;
  });
  return `${MARKS[kind]} ${paid_by.join(', ')} (${model} of ${manifest}): ${texts.join(', ')}`;
}

function ownText({ model, provider, unit, price, list }: OwnAmount): string {
  return `  ${model} at ${provider}: ${unit} ${price}, in the list ${list}`;
}

function countText(changes: readonly ListChange[]): string {
  const counts = ORDER.flatMap((kind) => {
    const { length } = changes.filter((one) => one.kind === kind);
    const words =
      { rises: 'rise', falls: 'fall', mixed: 'change both ways' }[kind] ?? `are ${kind}`;
    return length > 0 ? [`${length} ${words}`] : [];
  });
  if (counts.length === 0) return 'No other model of these providers changes.';
  return `Other models of these providers: ${counts.join(', ')}.`;
}
