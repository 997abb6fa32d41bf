import type { Command } from 'commander';
import type { Probed } from '../gateway/probe-upstreams.js';
import { formatDollars } from '../lib/money.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { parseDuration } from '../yaml/units.js';
import { acting, command, UsageError, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { pluralize, printLine } from './print.js';
import { printRows } from './print-rows.js';
import { environmentOf } from './environment.js';

interface Options {
  config: string;
  timeout: string;
  json?: boolean;
}

const MIN_MS = 100;
const MAX_MS = 600_000;
/** The most characters of an upstream's message in a table. */
const SHOWN_CHARACTERS = 80;

const DETAILS = `
Each chat model is asked for one token and each embedding model for the vector
of one word, at each of its upstreams, the way a request would. The provider
bills that, a fraction of a cent; no account is charged. Images and videos are
not paid for: their provider is only reached, without its key, so that nothing
is known of key and model. The exit status is 1 where an upstream fails, or
reports no usage though it is paid for.
`;

/** `tollgate probe [MODEL|PROVIDER] [--timeout 30s]` */
export function probeCommand(): Command {
  return withConfig(
    command('probe', 'ask the real upstreams for one token each', 'tollgate probe gpt-4o-mini')
      .argument('[model|provider]', 'only the upstreams of this one')
      .option('--timeout <time>', 'how long one upstream may take', '30s')
      .option('--json', 'print one JSON document')
      .addHelpText('after', DETAILS)
      .action(acting(probe)),
  );
}

async function probe(name: string | undefined, options: Options): Promise<void> {
  const timeout_ms = timeoutOf(options.timeout);
  const { checkForProviders } = await import('../gateway/check.js');
  const { probeTargets, probeUpstreams } = await import('../gateway/probe-upstreams.js');
  const env = environmentOf(options.config);
  const { configuration } = await checkForProviders(options.config, env, (unset) =>
    probeTargets(unset, name).map(({ provider }) => provider.name),
  );
  const targets = probeTargets(configuration, name);
  if (name !== undefined && targets.length === 0) {
    const known = [...configuration.models.keys(), ...configuration.providers.keys()];
    throw new UsageError(`there is no model or provider "${name}"; ${nameHint(name, known)}`);
  }
  const results = await probeUpstreams(targets, configuration, { timeout_ms, now: Date.now });
  const failures = results.filter(({ complaint }) => complaint !== null);
  if (failures.length > 0) commandIo().exit_status = 1;
  const rows = results.map(row);
  if (options.json) return printRows(rows, true, '');
  printRows(rows.map(shortened), false, 'There is no model whose upstreams could be asked.');
  if (rows.length === 0) return;
  const upstreams = pluralize(results.length, 'upstream');
  printLine(`\n${upstreams} asked, ${failures.length} failed.`);
}

function timeoutOf(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= MIN_MS && ms <= MAX_MS) return ms;
  throw new UsageError(`"${text}" is not a time from 100ms to 10m, such as 30s`);
}

function row({ target: { provider, use }, ...result }: Probed) {
  const { key_accepted, model_found, usage_reported, latency_ms, cost_nano, complaint } = result;
  return {
    model: use?.model.id ?? null,
    capability: use?.modality.name ?? null,
    provider: provider.name,
    upstream_model: use?.upstream.model ?? null,
    key_accepted,
    model_found,
    usage_reported,
    latency_ms,
    cost: result.is_paid ? formatDollars(cost_nano) : null,
    result: complaint ?? (result.is_paid ? 'ok' : 'reached; not paid for'),
    failed: complaint !== null,
  };
}

/** A row as a table shows it: its result in one short line. */
function shortened({ failed, result, ...rest }: ReturnType<typeof row>) {
  const text = failed ? `FAILED: ${result}` : result;
  const isLong = text.length > SHOWN_CHARACTERS;
  return { ...rest, result: isLong ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text };
}
