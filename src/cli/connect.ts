import { Argument, type Command } from 'commander';
import { modelNamed, namedModels, type Configuration } from '../core/configuration.js';
import { publicName } from '../core/model.js';
import {
  agentModels,
  CODING_AGENTS,
  isServed,
  startLines,
  suits,
  type AgentTarget,
  type CodingAgent,
} from '../dashboard/coding-agents.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { acting, command, UsageError, withConfig } from './command.js';
import { commandIo } from './command-io.js';
import { environmentOf } from './environment.js';
import { printJson, printLine } from './print.js';

interface Options {
  config: string;
  model?: string;
  key?: string;
  keyEnv?: string;
  write?: true;
  json?: true;
}

const IDS = CODING_AGENTS.map(({ id }) => id);

/** `tollgate connect AGENT [--model ID] [--key SECRET | --key-env NAME] [--write]` */
export function connectCommand(): Command {
  // The choices are for the help and for completion: a wrong word gets the nearest right one.
  const agent = new Argument('<agent>', 'the coding agent').choices(IDS).argParser(String);
  return withConfig(
    command(
      'connect',
      'print the settings by which a coding agent uses this gateway, or write them',
      'tollgate connect claude-code',
    )
      .addArgument(agent)
      .option('--model <model>', 'the model to begin with; otherwise the first that calls tools')
      .option('--key <secret>', 'fill in this key; otherwise TOLLGATE_API_KEY is read')
      .option('--key-env <name>', 'fill in the key that this variable has')
      .option('--write', "put them into the agent's own files, beside what is there")
      .option('--json', 'print one JSON document')
      .action(acting(connect)),
  );
}

async function connect(id: string, options: Options): Promise<void> {
  const agent = CODING_AGENTS.find((each) => each.id === id);
  if (!agent) throw new UsageError(`there is no agent "${id}"; ${nameHint(id, IDS)}`);
  const secret = secretOf(options);
  const { checkForProviders } = await import('../gateway/check.js');
  // No provider's variables are needed: nothing is called.
  const env = environmentOf(options.config);
  const { configuration } = await checkForProviders(options.config, env, () => []);
  const target = targetOf(agent, configuration, { ...options, secret });
  await (options.write ? write : print)(agent, target, options);
}

function secretOf({ key, keyEnv }: Options): string | undefined {
  if (key !== undefined && keyEnv !== undefined) {
    throw new UsageError('give --key or --key-env, not both');
  }
  const { env } = commandIo();
  const secret = keyEnv === undefined ? key : env[keyEnv];
  if (secret === undefined && keyEnv !== undefined) {
    throw new UsageError(`the variable ${keyEnv} is not set`);
  }
  if (secret !== undefined && !/^[\x21-\x7e]+$/u.test(secret)) {
    throw new UsageError('a key is one word of printable characters');
  }
  return secret;
}

function targetOf(
  agent: CodingAgent,
  configuration: Configuration,
  { config, model: wanted, secret }: Options & { secret: string | undefined },
): AgentTarget {
  const { public_url, endpoints } = configuration;
  if (!isServed(agent, endpoints)) {
    throw new UsageError(`${config} has no endpoint ${agent.endpoint}, which ${agent.name} calls`);
  }
  const first = [...configuration.models.values()].find((each) => suits(each, agent))?.id;
  const model = wanted === undefined ? first : usableModel(wanted, agent, configuration);
  if (model === undefined) {
    throw new UsageError(`no model of ${config} calls tools: give one the capability tools`);
  }
  const models = agentModels(configuration);
  const all = models.includes(model) ? models : [model, ...models];
  return { public_url, models: all, model, ...(secret !== undefined && { secret }) };
}

/** The name that was typed, which may be an alias. */
function usableModel(name: string, agent: CodingAgent, configuration: Configuration): string {
  const model = modelNamed(configuration, name);
  const suited = namedModels(configuration).filter((each) => suits(each, agent));
  if (!model) {
    throw new UsageError(`there is no model "${name}"; ${nameHint(name, suited.map(publicName))}`);
  }
  if (!suits(model, agent)) {
    const lacks = model.capabilities.has('chat') ? 'does not call tools' : 'does no chat';
    throw new UsageError(`the model "${name}" ${lacks}, which ${agent.name} needs`);
  }
  return name;
}

async function print(agent: CodingAgent, target: AgentTarget, { json }: Options): Promise<void> {
  const { id, name, note, lines } = agent;
  if (json) {
    const { settingsPath } = await import('./settings-file.js');
    const files = agent.files?.(target).map((file) => {
      return { path: settingsPath(file), format: file.format, values: file.values };
    });
    return printJson({ agent: id, ...shown(target), lines: lines(target), files: files ?? [] });
  }
  printLine(`# ${name}`);
  for (const line of lines(target)) printLine(line);
  if (note !== undefined) printLine(`# ${note}`);
}

function shown({ public_url, model, secret }: AgentTarget): object {
  return { public_url, model, has_key: secret !== undefined };
}

async function write(agent: CodingAgent, target: AgentTarget, { json }: Options): Promise<void> {
  const { id, name, files } = agent;
  if (!files) {
    throw new UsageError(
      `only ${name} itself writes its settings: paste the lines without --write`,
    );
  }
  const { plannedFile, writePlanned } = await import('./settings-file.js');
  // All are read before one is written.
  const planned = files(target).map(plannedFile);
  const written: { path: string; backup: string | null; is_changed: boolean }[] = [];
  for (const file of planned) {
    const backup = (await writePlanned(file)) ?? null;
    written.push({ path: file.path, backup, is_changed: file.text !== file.before });
  }
  const next = startLines(agent, target);
  if (json) return printJson({ agent: id, ...shown(target), files: written, lines: next });
  for (const { path, backup, is_changed } of written) {
    const kept = backup === null ? '' : ` What was there is in ${backup}.`;
    printLine(is_changed ? `Wrote ${path}.${kept}` : `${path} says so already.`);
  }
  printLine(`Next:\n\n  ${next.join('\n  ')}\n`);
}
