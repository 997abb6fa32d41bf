import { stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { InitProvider } from '../config/init-providers.js';
import { ConfigError } from '../config/config-error.js';
import type { Findings, Missed, PlannedProvider } from '../gateway/init-plan.js';
import type { LocalAddress } from '../gateway/local-servers.js';
import { fileFault } from '../lib/file-fault.js';
import { replaceFile } from '../lib/replace-file.js';
import { packageRoot } from '../lib/package-root.js';
import { shellWord } from '../lib/shell-quote.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { acting, command, repeated, UsageError } from './command.js';
import { environmentOf } from './environment.js';
import { localAddresses } from './init-addresses.js';
import { pluralize, printJson, printLine } from './print.js';

interface Options {
  force?: true;
  provider?: string[];
  /** False for `--no-local`. */
  local?: string[] | false;
  json?: true;
}

const TIMEOUT_MS = 1_500;

/** `tollgate init [FILE] [--provider NAME] [--local ADDRESS | --no-local] [--force]` */
export function initCommand(): Command {
  return command(
    'init',
    'write a first gateway.yaml for the keys and the local servers that are found',
    'tollgate init --provider openai',
  )
    .argument('[file]', 'where to write it', 'gateway.yaml')
    .option('--provider <manifest>', 'only this one; may be repeated', repeated)
    .option('--local <address>', 'a server, as [NAME=]URL, not the customary ones', repeated)
    .option('--no-local', 'ask no server on this machine')
    .option('--force', 'replace a file that is there')
    .option('--json', 'print one JSON document')
    .action(acting(init));
}

async function init(file: string, options: Options): Promise<void> {
  const { readInitProviders } = await import('../config/init-providers.js');
  const { findProviders, lastResort } = await import('../gateway/init-plan.js');
  const init_providers = await readInitProviders();
  const env = environmentOf(file);
  const addresses = localAddresses(init_providers, options.local);
  checkNames(options.provider, init_providers, addresses);
  const picks = options.provider;
  const search = {
    init_providers,
    picks,
    env,
    addresses,
    timeout_ms: TIMEOUT_MS,
    now_ms: Date.now(),
  };
  const found = await findProviders(search);
  const in_process = await lastResort(init_providers);
  const picked = in_process.filter(({ name }) => picks?.includes(name));
  const providers = [...found.providers, ...picked];
  const unasked =
    options.local === false
      ? 'with --no-local its server is not asked'
      : 'name its address with --local';
  checkFound(picks, providers, found.missed, unasked);
  const hasModel = providers.some(({ models }) => models.length > 0);
  const written = hasModel ? providers : [...providers, ...in_process];
  await write(file, written, found, options.force === true);
  const unset = written.flatMap((provider) => provider.unset);
  await checkWritten(file, { ...Object.fromEntries(unset.map((name) => [name, 'x'])), ...env });
  report(file, written, found.missed, options);
}

/** Throws `UsageError` for a name that is neither a manifest nor a local server. */
function checkNames(
  picks: readonly string[] = [],
  init_providers: readonly InitProvider[],
  addresses: readonly LocalAddress[],
): void {
  const known = [
    ...new Set([
      ...init_providers.filter(isPick).map(({ manifest }) => manifest),
      ...addresses.map(({ name }) => name),
    ]),
  ];
  for (const pick of picks) {
    if (known.includes(pick)) continue;
    throw new UsageError(`init knows no provider "${pick}"; ${nameHint(pick, known)}`);
  }
}

function isPick({ variables, local, in_process }: InitProvider): boolean {
  return variables.length > 0 || local.length > 0 || in_process;
}

/** Throws `UsageError` for a provider of `--provider` that was not found. */
function checkFound(
  picks: readonly string[] = [],
  found: readonly PlannedProvider[],
  missed: readonly Missed[],
  unasked: string,
): void {
  for (const pick of picks) {
    if (found.some(({ name }) => name === pick)) continue;
    const reason = missed.find(({ name }) => name === pick)?.reason ?? unasked;
    throw new UsageError(`the provider "${pick}" was not found: ${reason}`);
  }
}

async function write(
  file: string,
  providers: readonly PlannedProvider[],
  found: Findings,
  force: boolean,
): Promise<void> {
  const { initFile } = await import('../gateway/init-file.js');
  const { freePort } = await import('../gateway/init-plan.js');
  const there = await stat(file).catch(() => undefined);
  if (there?.isDirectory()) throw new UsageError(`${file} is a folder`);
  const date = new Date().toISOString().slice(0, 10);
  const text = initFile({ schema: schemaOf(file), date, port: freePort(found), providers });
  try {
    await (force ? replaceFile(file, text) : writeFile(file, text, { flag: 'wx' }));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EEXIST') throw new UsageError(`${file} is there already; --force replaces it`);
    const fault = fileFault(file, error);
    throw fault === undefined ? error : new UsageError(fault);
  }
}

/** The relative path from the file to the schema; undefined if the schema is in no folder below. */
function schemaOf(file: string): string | undefined {
  const schema = join(packageRoot, 'schemas', 'gateway.schema.json');
  const path = relative(dirname(resolve(file)), schema).replaceAll('\\', '/');
  return path.startsWith('..') || path.includes(':') ? undefined : `./${path}`;
}

/** Checks the new file. A fault comes from a bug of `init`, or from the value of a variable. */
async function checkWritten(file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { check } = await import('../gateway/check.js');
  const { faults } = await check(file, env);
  if (faults.length > 0) throw new ConfigError(faults);
}

function report(
  file: string,
  providers: readonly PlannedProvider[],
  missed: readonly Missed[],
  { json, provider: picks }: Options,
): void {
  const config = resolve(file) === resolve('gateway.yaml') ? '' : ` --config ${shellWord(file)}`;
  const next = `npx tollgate serve${config}`;
  if (json) {
    const found = providers.map(({ name, uses, variables, unset, base_url, models }) => {
      return { name, uses, variables, unset, base_url, models: models.map(({ id }) => id) };
    });
    return printJson({
      file,
      providers: found,
      missed: missed.map(({ name, reason }) => ({ name, reason })),
      next,
    });
  }
  for (const provider of providers) printLine(sentenceOf(provider));
  // Most providers are not here, so only servers that did answer are worth a line.
  const near = missed.filter(({ busy_url }) => busy_url !== null);
  for (const { title, reason } of near) printLine(`Left out ${title}: ${reason}.`);
  const isAlone = providers.every(({ variables, base_url }) => !variables.length && !base_url);
  if (isAlone && !picks) {
    printLine(
      'Found no key of a provider and no local server. Set a key such as OPENAI_API_KEY, and',
    );
    printLine('run this again with --force; "tollgate init --json" names all that was looked for.');
  }
  const served = providers.filter((provider) => provider.models.length > 0);
  const unset = served.flatMap((provider) => provider.unset);
  const models = pluralize(providers.flatMap((one) => one.models).length, 'model');
  const set = unset.length === 0 ? '' : `set ${unset.join(' and ')}, here or in .env, then `;
  printLine(`Wrote ${file} with ${models}. Next: ${set}\n\n  ${next}\n`.replace(/ (?=\n)/, ''));
}

function sentenceOf({ title, variables, base_url, models }: PlannedProvider): string {
  const place = base_url === null ? '' : ` at ${base_url}`;
  const keys = variables.length === 0 ? '' : ` by ${variables.join(' and ')}`;
  const served =
    models.length > 0
      ? models.map(({ id }) => id).join(', ')
      : 'its prices are not known here, so it stands in the file as a comment';
  return `${title}${place}${keys}: ${served}`;
}
