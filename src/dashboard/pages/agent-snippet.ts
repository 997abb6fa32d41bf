import { shellQuoted, shellWord } from '../../lib/shell-quote.js';

/** The values that the set-up of an agent is filled with. */
export interface AgentTarget {
  public_url: string;
  /** The models that the agent may use; `model` is one of them. */
  models: readonly string[];
  model: string;
  /** The secret of an API key; without one the lines read the variable `TOLLGATE_API_KEY`. */
  secret?: string;
}

export interface CodingAgent {
  id: string;
  name: string;
  /** The path of the endpoint that it calls, or the beginning of that path. */
  endpoint: string;
  note?: string;
  /** Lines for a POSIX shell, of which the last one starts the agent. */
  lines: (target: AgentTarget) => string[];
}

const VARIABLE = 'TOLLGATE_API_KEY';
const CONTINUE_FILE = '~/.continue/tollgate.yaml';

/** The coding agents that `npm run test:agents` sets up with these lines. */
export const CODING_AGENTS: readonly CodingAgent[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    endpoint: '/v1/messages',
    lines: (target) => [
      `export ANTHROPIC_BASE_URL=${shellWord(target.public_url)}`,
      `export ANTHROPIC_AUTH_TOKEN=${keyWord(target)}`,
      `claude --model ${shellWord(target.model)}`,
    ],
  },
  {
    id: 'codex',
    name: 'codex',
    endpoint: '/v1/responses',
    lines: (target) => [
      ...(target.secret === undefined ? [] : [`export ${VARIABLE}=${keyWord(target)}`]),
      `codex -c model_provider=tollgate -c ${setting('model', JSON.stringify(target.model))} \\`,
      `  -c ${setting('model_providers.tollgate', codexProvider(target))}`,
    ],
  },
  {
    id: 'opencode',
    name: 'opencode',
    endpoint: '/v1/chat/completions',
    lines: (target) => [
      `export OPENCODE_CONFIG_CONTENT=${quotedJson(opencodeConfig(target), target)}`,
      'opencode',
    ],
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
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    note: 'It asks once how to sign in: choose “Use Gemini API Key”.',
    endpoint: '/v1beta/models',
    lines: (target) => [
      `export GOOGLE_GEMINI_BASE_URL=${shellWord(target.public_url)}`,
      `export GEMINI_API_KEY=${keyWord(target)}`,
      `gemini --model ${shellWord(target.model)}`,
    ],
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
  },
];

/** The agents whose endpoint this configuration has. */
export function servedAgents(endpoints: readonly { path: string }[]): CodingAgent[] {
  return CODING_AGENTS.filter(({ endpoint }) =>
    endpoints.some(({ path }) => path.startsWith(endpoint)),
  );
}

function keyWord({ secret }: AgentTarget): string {
  return secret === undefined ? `$${VARIABLE}` : shellWord(secret);
}

/** A setting of codex, whose value is TOML. */
function setting(name: string, value: string): string {
  return shellQuoted(`${name}=${value}`);
}

/** A table of TOML, whose strings are written as in JSON. */
function codexProvider({ public_url }: AgentTarget): string {
  const base_url = JSON.stringify(`${public_url}/v1`);
  return `{ name = "Tollgate", base_url = ${base_url}, env_key = "${VARIABLE}" }`;
}

/** Stands for the key in JSON until the shell fills the variable in. */
const KEY = '\u0000';

function opencodeConfig({ public_url, models, model }: AgentTarget): object {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${public_url}/v1`, apiKey: KEY },
    models: Object.fromEntries(models.map((id) => [id, {}])),
  };
  return { model: `tollgate/${model}`, provider: { tollgate: provider } };
}

function continueConfig({ public_url, model }: AgentTarget): object {
  const shared = { provider: 'openai', apiBase: `${public_url}/v1`, apiKey: KEY };
  const models = [{ name: model, model, ...shared }];
  return { name: 'Tollgate', version: '1.0.0', schema: 'v1', models };
}

/** JSON as one word of a shell, with the key in its place. */
function quotedJson(value: object, target: AgentTarget): string {
  const parts = JSON.stringify(value).split(JSON.stringify(KEY).slice(1, -1));
  if (target.secret !== undefined) return shellQuoted(parts.join(target.secret));
  return parts.map((part) => shellQuoted(part)).join(`"$${VARIABLE}"`);
}
