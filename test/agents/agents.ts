import type { Package } from './install.js';
import type { ToolCall, Turn } from './script.js';

const PROMPT = 'Write a file hello.txt';
export const CONTENT = 'hello from the fake model\n';
/** A model's name that no agent knows. */
export const PLAIN_MODEL = 'acme-coder';

/** Where an agent runs, and the gateway that it asks. */
export interface Place {
  root: string;
  home: string;
  project: string;
  /** The file that it shall write, in the project. */
  file: string;
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  url: string;
  key: string;
  model: string;
}

/** A coding agent, set up as its users do. */
export interface Agent {
  title: string;
  package: Package;
  model: string;
  /** Commands run one after another in the project; the last one gets the prompt. */
  commands: (place: Place) => (readonly string[])[];
  env: (place: Place) => Record<string, string>;
  /** Files by their path from the home folder. */
  files?: (place: Place) => Record<string, string>;
  writes: (file: string) => ToolCall;
  /** The calls of one run; more than two only where the agent has a cause for them. */
  turns: readonly Turn[];
}

/** The parts of most agents. */
const USUAL = { model: PLAIN_MODEL, turns: ['tool', 'text'] } as const;

export const AGENTS: readonly Agent[] = [
  claudeCode('ANTHROPIC_AUTH_TOKEN'),
  claudeCode('ANTHROPIC_API_KEY'),
  codex('a plain model', PLAIN_MODEL, (cmd) => ({ name: 'exec_command', arguments: { cmd } })),
  codex('a model of its catalogue', 'gpt-5.6-sol', (cmd) => ({
    name: 'exec',
    arguments: {
      input: `const done = await tools.exec_command(${JSON.stringify({ cmd })});\ntext(done);`,
    },
  })),
  {
    ...USUAL,
    title: 'opencode',
    package: { name: 'opencode-ai', version: '1.18.33' },
    commands: ({ model }) => [['opencode', 'run', '-m', `tollgate/${model}`, PROMPT]],
    env: ({ key }) => ({
      TOLLGATE_API_KEY: key,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    }),
    files: ({ url, model }) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        share: 'disabled',
        provider: {
          tollgate: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: '{env:TOLLGATE_API_KEY}' },
            models: { [model]: {} },
          },
        },
      }),
    }),
    writes: (file) => ({ name: 'write', arguments: { filePath: file, content: CONTENT } }),
    // It asks for a title of the session beside its first turn.
    turns: ['aside', 'tool', 'text'],
  },
  {
    ...USUAL,
    title: 'Gemini CLI',
    package: { name: '@google/gemini-cli', version: '0.61.0' },
    commands: ({ model }) => [['gemini', '-m', model, '-p', PROMPT, '--approval-mode=auto_edit']],
    env: ({ url, key }) => ({
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: key,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      }),
    }),
    writes: (file) => ({ name: 'write_file', arguments: { file_path: file, content: CONTENT } }),
  },
  {
    ...USUAL,
    title: 'Qwen Code',
    package: { name: '@qwen-code/qwen-code', version: '0.24.4' },
    commands: () => [['qwen', '-p', PROMPT, '--auth-type=openai', '--approval-mode=auto-edit']],
    env: ({ url, key, model }) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: key,
      OPENAI_MODEL: model,
    }),
    files: () => ({
      '.qwen/settings.json': JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      }),
    }),
    writes: (file) => ({ name: 'write_file', arguments: { file_path: file, content: CONTENT } }),
  },
  {
    ...USUAL,
    title: 'Cline',
    package: { name: 'cline', version: '3.0.65' },
    commands: ({ url, key, model }) => [
      ['cline', 'auth', '-p', 'openai', '-k', key, '-b', `${url}/v1`, '-m', model],
      ['cline', PROMPT],
    ],
    env: () => ({ CLINE_TELEMETRY_DISABLED: '1' }),
    writes: (file) => ({ name: 'editor', arguments: { path: file, new_text: CONTENT } }),
  },
  {
    ...USUAL,
    title: 'Continue',
    package: { name: '@continuedev/cli', version: '1.5.47' },
    commands: ({ home }) => [
      ['cn', '-p', PROMPT, '--allow', 'Write', '--config', `${home}/.continue/config.yaml`],
    ],
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
    files: ({ url, key, model }) => ({
      '.continue/config.yaml': `name: Tollgate
version: 1.0.0
schema: v1
models: [{ name: coder, provider: openai, model: ${model}, apiBase: '${url}/v1', apiKey: ${key} }]
`,
    }),
    writes: (file) => ({ name: 'Write', arguments: { filepath: file, content: CONTENT } }),
  },
];

/** The key is a bearer token in one variable, and `x-api-key` in the other. */
function claudeCode(variable: string): Agent {
  return {
    ...USUAL,
    title: `Claude Code, ${variable}`,
    package: { name: '@anthropic-ai/claude-code', version: '2.1.330' },
    commands: ({ model }) => [['claude', '-p', PROMPT, '--model', model, '--allowedTools=Write']],
    env: ({ url, key }) => ({
      ANTHROPIC_BASE_URL: url,
      [variable]: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    writes: (file) => ({ name: 'Write', arguments: { file_path: file, content: CONTENT } }),
  };
}

function codex(title: string, model: string, writes: (command: string) => ToolCall): Agent {
  const exec = ['codex', 'exec', '--skip-git-repo-check'];
  return {
    ...USUAL,
    title: `codex, ${title}`,
    package: { name: '@openai/codex', version: '0.169.0' },
    model,
    commands: () => [[...exec, '--dangerously-bypass-approvals-and-sandbox', PROMPT]],
    env: ({ key }) => ({ TOLLGATE_API_KEY: key }),
    files: ({ url }) => ({
      '.codex/config.toml': `model = "${model}"
model_provider = "tollgate"
check_for_update_on_startup = false
analytics = { enabled = false }
[model_providers]
tollgate = { name = "Tollgate", base_url = "${url}/v1", env_key = "TOLLGATE_API_KEY" }
`,
    }),
    writes: (file) => writes(`printf '${CONTENT.trim()}\\n' > ${file}`),
  };
}
