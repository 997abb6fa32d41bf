import type { Configuration } from '../core/configuration.js';
import type { Model } from '../core/model.js';
import { shellQuoted, shellWord } from '../lib/shell-quote.js';

/** The values that the set-up of an agent is filled with. */
export interface AgentTarget {
  public_url: string;
  /** The models that the agent may use; `model` is one of them. */
  models: readonly string[];
  model: string;
  /** The secret of an API key; without one the agent reads it from a variable. */
  secret?: string;
}

/** A settings file of an agent, and what is put into it beside what is there. */
export interface SettingsFile {
  /** The folder: the value of a variable where that is set, else a path in the home folder. */
  folder: { variable?: string; path: string };
  name: string;
  format: 'json' | 'toml' | 'yaml' | 'env';
  /** An undefined value takes an entry away. Entries of a list are told apart by their `name`. */
  values: Settings;
  /** What a new file begins with. */
  first?: Settings;
}

export type Setting = string | boolean | undefined | Settings | readonly Settings[];

export interface Settings {
  [name: string]: Setting;
}

export interface CodingAgent {
  id: string;
  name: string;
  /** The path of the endpoint that it calls; one that ends with a slash is a beginning. */
  endpoint: string;
  /** Its model needs no tools. */
  edits_by_text?: true;
  note?: string;
  /** Lines for a POSIX shell, of which the last one starts the agent. */
  lines: (target: AgentTarget) => string[];
  /** The files that say the same for good; none where only the agent itself writes its settings. */
  files?: (target: AgentTarget) => SettingsFile[];
  /** What starts it, once the files are there. */
  command: string;
  /** The variable from which it then takes a key that no file has. */
  variable: string;
}

const VARIABLE = 'TOLLGATE_API_KEY';
const CONTINUE_FILE = '~/.continue/tollgate.yaml';
const CONTINUE_HEAD = { name: 'Tollgate', version: '1.0.0', schema: 'v1' };
const CONFIG_FOLDER = { variable: 'XDG_CONFIG_HOME', path: '.config' };

/** The coding agents that `npm run test:agents` sets up by these lines and files. */
export const CODING_AGENTS: readonly CodingAgent[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    endpoint: '/v1/messages',
    lines: (target) => [
      `export ANTHROPIC_BASE_URL=${shellWord(target.public_url)}`,
      `export ANTHROPIC_AUTH_TOKEN=${keyWord(target)}`,
      // Titles and summaries would ask for a Haiku.
      `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellWord(target.model)}`,
      `claude --model ${shellWord(target.model)}`,
    ],
    files: ({ public_url, model, secret }) => [
      {
        folder: { variable: 'CLAUDE_CONFIG_DIR', path: '.claude' },
        name: 'settings.json',
        format: 'json',
        values: {
          model,
          apiKeyHelper: secret === undefined ? `printenv ${VARIABLE}` : undefined,
          env: {
            ANTHROPIC_BASE_URL: public_url,
            ANTHROPIC_AUTH_TOKEN: secret,
            ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          },
        },
      },
    ],
    command: 'claude',
    variable: VARIABLE,
  },
  {
    id: 'codex',
    name: 'codex',
    endpoint: '/v1/responses',
    lines: (target) => [
      ...(target.secret === undefined ? [] : [`export ${VARIABLE}=${keyWord(target)}`]),
      `codex -c model_provider=tollgate -c ${override('model', JSON.stringify(target.model))} \\`,
      `  -c ${override('model_providers.tollgate', codexProvider(target))}`,
    ],
    files: ({ public_url, model, secret }) => [
      {
        folder: { variable: 'CODEX_HOME', path: '.codex' },
        name: 'config.toml',
        format: 'toml',
        values: {
          model,
          model_provider: 'tollgate',
          model_providers: {
            tollgate: {
              name: 'Tollgate',
              base_url: `${public_url}/v1`,
              env_key: secret === undefined ? VARIABLE : undefined,
              experimental_bearer_token: secret,
            },
          },
        },
      },
    ],
    command: 'codex',
    variable: VARIABLE,
  },
  {
    id: 'opencode',
    name: 'opencode',
    endpoint: '/v1/chat/completions',
    lines: (target) => [
      `export OPENCODE_CONFIG_CONTENT=${quotedJson(opencodeConfig(target, KEY), target)}`,
      'opencode',
    ],
    files: (target) => [
      {
        folder: CONFIG_FOLDER,
        name: 'opencode/opencode.json',
        format: 'json',
        values: opencodeConfig(target, target.secret ?? `{env:${VARIABLE}}`),
      },
    ],
    command: 'opencode',
    variable: VARIABLE,
  },
  {
    id: 'cline',
    name: 'Cline',
    endpoint: '/v1/chat/completions',
    lines: (target) => [
      `cline auth -p openai -b ${shellWord(`${target.public_url}/v1`)} \\`,
      `  -k ${keyWord(target)} -m ${shellWord(target.model)}`,
      'cline',
    ],
    command: 'cline',
    variable: VARIABLE,
  },
  {
    id: 'continue',
    name: 'Continue',
    endpoint: '/v1/chat/completions',
    lines: (target) => [
      `mkdir -p ~/.continue && printf %s ${quotedJson(continueConfig(target), target)} \\`,
      `  > ${CONTINUE_FILE}`,
      `cn --config ${CONTINUE_FILE}`,
    ],
    files: (target) => [
      {
        folder: { variable: 'CONTINUE_GLOBAL_DIR', path: '.continue' },
        name: 'config.yaml',
        format: 'yaml',
        first: CONTINUE_HEAD,
        values: { models: continueModels(target, target.secret ?? `\${{ secrets.${VARIABLE} }}`) },
      },
    ],
    command: 'cn',
    variable: VARIABLE,
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    note: 'It asks once how to sign in: choose “Use Gemini API Key”.',
    endpoint: '/v1beta/models/',
    lines: (target) => [
      `export GOOGLE_GEMINI_BASE_URL=${shellWord(target.public_url)}`,
      `export GEMINI_API_KEY=${keyWord(target)}`,
      `gemini --model ${shellWord(target.model)}`,
    ],
    files: ({ public_url, model, secret }) => [
      {
        folder: { path: '.gemini' },
        name: '.env',
        format: 'env',
        values: { GOOGLE_GEMINI_BASE_URL: public_url, GEMINI_API_KEY: secret },
      },
      {
        folder: { path: '.gemini' },
        name: 'settings.json',
        format: 'json',
        values: { security: { auth: { selectedType: 'gemini-api-key' } }, model: { name: model } },
      },
    ],
    command: 'gemini',
    variable: 'GEMINI_API_KEY',
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    endpoint: '/v1/chat/completions',
    lines: (target) => [
      `export OPENAI_BASE_URL=${shellWord(`${target.public_url}/v1`)}`,
      `export OPENAI_API_KEY=${keyWord(target)}`,
      `qwen --auth-type openai --model ${shellWord(target.model)}`,
    ],
    files: ({ public_url, model, models, secret }) => [
      {
        folder: { path: '.qwen' },
        name: 'settings.json',
        format: 'json',
        values: {
          security: { auth: { selectedType: 'openai' } },
          model: { name: model },
          modelProviders: {
            openai: models.map((id) => ({
              id,
              name: id,
              baseUrl: `${public_url}/v1`,
              envKey: VARIABLE,
            })),
          },
          env: { [VARIABLE]: secret },
        },
      },
    ],
    command: 'qwen',
    variable: VARIABLE,
  },
  {
    id: 'goose',
    name: 'Goose',
    endpoint: '/v1/chat/completions',
    lines: (target) => [
      `export OPENAI_HOST=${shellWord(target.public_url)}`,
      `export OPENAI_API_KEY=${keyWord(target)}`,
      `export GOOSE_PROVIDER=openai GOOSE_MODEL=${shellWord(target.model)}`,
      'goose',
    ],
    files: (target) => [
      {
        folder: CONFIG_FOLDER,
        name: 'goose/config.yaml',
        format: 'yaml',
        values: { GOOSE_PROVIDER: 'tollgate', GOOSE_MODEL: target.model },
      },
      {
        folder: CONFIG_FOLDER,
        name: 'goose/custom_providers/tollgate.json',
        format: 'json',
        values: gooseProvider(target),
      },
    ],
    command: 'goose',
    variable: VARIABLE,
  },
  {
    id: 'aider',
    name: 'Aider',
    endpoint: '/v1/chat/completions',
    edits_by_text: true,
    lines: (target) => [
      `export OPENAI_API_BASE=${shellWord(`${target.public_url}/v1`)}`,
      `export OPENAI_API_KEY=${keyWord(target)}`,
      `aider --model ${shellWord(`openai/${target.model}`)}`,
    ],
    files: ({ public_url, model, secret }) => [
      {
        folder: { path: '' },
        name: '.aider.conf.yml',
        format: 'yaml',
        values: {
          model: `openai/${model}`,
          'openai-api-base': `${public_url}/v1`,
          'openai-api-key': secret,
        },
      },
    ],
    command: 'aider',
    variable: 'OPENAI_API_KEY',
  },
];

/** The agents whose endpoint this configuration has. */
export function servedAgents(endpoints: readonly { path: string }[]): CodingAgent[] {
  return CODING_AGENTS.filter((agent) => isServed(agent, endpoints));
}

export function isServed(
  { endpoint }: CodingAgent,
  endpoints: readonly { path: string }[],
): boolean {
  return endpoints.some(
    ({ path }) => path === endpoint || (endpoint.endsWith('/') && path.startsWith(endpoint)),
  );
}

/** The models that a coding agent can work with, by their IDs. */
export function agentModels({ models }: Configuration): string[] {
  return [...models.values()].filter((model) => suits(model)).map(({ id }) => id);
}

/** Whether an agent, or any of them, can work with a model. */
export function suits({ capabilities }: Model, agent?: CodingAgent): boolean {
  return capabilities.has('chat') && (agent?.edits_by_text === true || capabilities.has('tools'));
}

/** The lines that are left to do once the files are written. */
export function startLines({ command, variable }: CodingAgent, { secret }: AgentTarget): string[] {
  const key = variable === VARIABLE ? 'tg-…' : `$${VARIABLE}`;
  return secret === undefined ? [`export ${variable}=${key}`, command] : [command];
}

function keyWord({ secret }: AgentTarget): string {
  return secret === undefined ? `$${VARIABLE}` : shellWord(secret);
}

/** A setting of codex, whose value is TOML. */
function override(name: string, value: string): string {
  return shellQuoted(`${name}=${value}`);
}

/** A table of TOML, whose strings are written as in JSON. */
function codexProvider({ public_url }: AgentTarget): string {
  const base_url = JSON.stringify(`${public_url}/v1`);
  return `{ name = "Tollgate", base_url = ${base_url}, env_key = "${VARIABLE}" }`;
}

/** Stands for the key in JSON until the shell fills the variable in. */
const KEY = '\u0000';

function opencodeConfig({ public_url, models, model }: AgentTarget, apiKey: string): Settings {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${public_url}/v1`, apiKey },
    models: Object.fromEntries(models.map((id) => [id, {}])),
  };
  return { model: `tollgate/${model}`, provider: { tollgate: provider } };
}

function continueConfig(target: AgentTarget): Settings {
  return { ...CONTINUE_HEAD, models: continueModels(target, KEY) };
}

function continueModels({ public_url, model }: AgentTarget, apiKey: string): Settings[] {
  return [{ name: model, model, provider: 'openai', apiBase: `${public_url}/v1`, apiKey }];
}

function gooseProvider({ public_url, models, secret }: AgentTarget): Settings {
  return {
    name: 'tollgate',
    engine: 'openai',
    display_name: 'Tollgate',
    base_url: `${public_url}/v1/chat/completions`,
    // It takes a key from a variable or a keyring, and headers from this file.
    api_key_env: secret === undefined ? VARIABLE : '',
    requires_auth: secret === undefined,
    headers: secret === undefined ? undefined : { Authorization: `Bearer ${secret}` },
    models: models.map((name) => ({ name })),
    supports_streaming: true,
  };
}

/** JSON as one word of a shell, with the key in its place. */
function quotedJson(value: object, target: AgentTarget): string {
  const parts = JSON.stringify(value).split(JSON.stringify(KEY).slice(1, -1));
  if (target.secret !== undefined) return shellQuoted(parts.join(target.secret));
  return parts.map((part) => shellQuoted(part)).join(`"$${VARIABLE}"`);
}
