import { shellQuoted } from '../../src/lib/shell-quote.js';
import { npmPackage, pypiPackage, type Package } from './install.js';
import { FINAL_TEXT, type Step, type ToolCall } from './script.js';

const PROMPT = 'Write a file hello.txt, read it, then write done.txt.';
export const CONTENT = 'hello from the fake model\n';
/** A model's name that no agent knows. */
const PLAIN_MODEL = 'acme-coder';

/** The files of the task, by their paths. */
export interface TaskFiles {
  hello: string;
  done: string;
}

/** A coding agent: `tollgate connect` sets it up, and then it is given one task. */
export interface Agent {
  title: string;
  package: Package;
  model: string;
  /** Its word in `tollgate connect`. */
  id: string;
  /** A way of its own of being set up, in place of the lines or files of `tollgate connect`. */
  lines?: (gateway: { url: string; model: string }) => string[];
  /** What follows the last line of its set-up, for one prompt without a terminal. */
  words: readonly string[];
  /** Keeps it from sending anything but requests for the model. */
  env: Record<string, string>;
  /** Files by their path from the home folder, for what has no variable. */
  files?: Record<string, string>;
  /** What the model says before its last text: three turns, each with a tool. */
  steps: (files: TaskFiles) => readonly Step[];
  /** The files that it has written in the end. */
  writes: readonly (keyof TaskFiles)[];
  /** How many requests it sends beside those of its turns, such as one for a title. */
  asides: number;
  /** What it does without credit, where that is more than one call, or other words, or success. */
  without_credit?: { calls?: number; says?: RegExp; status?: number };
}

/** The parts of most agents. */
const USUAL = {
  model: PLAIN_MODEL,
  env: {},
  writes: ['hello', 'done'],
  asides: 0,
} as const satisfies Partial<Agent>;

export const AGENTS: readonly Agent[] = [
  claudeCode('a token'),
  {
    ...claudeCode('an API key'),
    lines: ({ url, model }) => [
      `export ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=$TOLLGATE_API_KEY`,
      `claude --model ${model}`,
    ],
  },
  codex('a plain model'),
  {
    ...codex('a model of its catalogue'),
    model: 'gpt-5.6-sol',
    steps: (files) =>
      shellSteps(files).map((cmd) => ({
        name: 'exec',
        arguments: {
          input: `const done = await tools.exec_command(${JSON.stringify({ cmd })});\ntext(done);`,
        },
      })),
  },
  {
    ...codex('openai_base_url'),
    lines: ({ url, model }) => [
      'printenv TOLLGATE_API_KEY | codex login --with-api-key 2> /dev/null',
      `codex -c openai_base_url=${url}/v1 -m ${model}`,
    ],
  },
  {
    ...codex('a provider by WebSocket'),
    lines: ({ url, model }) => [
      `codex -m ${model} -c model_provider=tollgate -c 'model_providers.tollgate={ ` +
        `name = "Tollgate", base_url = "${url}/v1", env_key = "TOLLGATE_API_KEY", ` +
        `supports_websockets = true }'`,
    ],
  },
  {
    ...USUAL,
    title: 'opencode',
    package: npmPackage('opencode-ai'),
    id: 'opencode',
    words: ['run', PROMPT],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_SHARE: '1',
    },
    steps: toolSteps({
      write: (filePath, content) => ({ name: 'write', arguments: { filePath, content } }),
      read: (filePath) => ({ name: 'read', arguments: { filePath } }),
    }),
    // It asks for a title of the session beside its first turn.
    asides: 1,
  },
  {
    ...USUAL,
    title: 'Gemini CLI',
    package: npmPackage('@google/gemini-cli'),
    id: 'gemini-cli',
    words: ['-p', PROMPT, '--approval-mode=auto_edit'],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    files: {
      '.gemini/settings.json': JSON.stringify({
        // What a person chooses at the first start.
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      }),
    },
    steps: toolSteps({
      write: (file_path, content) => ({ name: 'write_file', arguments: { file_path, content } }),
      read: (file_path) => ({ name: 'read_file', arguments: { file_path } }),
    }),
  },
  {
    ...USUAL,
    title: 'Qwen Code',
    package: npmPackage('@qwen-code/qwen-code'),
    id: 'qwen-code',
    words: ['-p', PROMPT, '--approval-mode=auto-edit'],
    files: {
      '.qwen/settings.json': JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      }),
    },
    steps: toolSteps({
      write: (file_path, content) => ({ name: 'write_file', arguments: { file_path, content } }),
      read: (file_path) => ({ name: 'read_file', arguments: { file_path } }),
    }),
  },
  {
    ...USUAL,
    title: 'Cline',
    package: npmPackage('cline'),
    id: 'cline',
    words: [PROMPT],
    env: { CLINE_TELEMETRY_DISABLED: '1' },
    steps: toolSteps({
      write: (path, new_text) => ({ name: 'editor', arguments: { path, new_text } }),
      read: (path) => ({ name: 'read_files', arguments: { files: [{ path }] } }),
    }),
  },
  {
    ...USUAL,
    title: 'Continue',
    package: npmPackage('@continuedev/cli'),
    id: 'continue',
    words: ['-p', PROMPT, '--allow', 'Write'],
    env: { CONTINUE_TELEMETRY_ENABLED: '0' },
    steps: toolSteps({
      write: (filepath, content) => ({ name: 'Write', arguments: { filepath, content } }),
      read: (filepath) => ({ name: 'Read', arguments: { filepath } }),
    }),
  },
  {
    ...USUAL,
    title: 'Goose',
    package: npmPackage(
      '@aaif/goose-binary-linux-x64',
      'node_modules/@aaif/goose-binary-linux-x64/bin',
    ),
    id: 'goose',
    words: ['run', '--with-builtin', 'developer', '-t', PROMPT],
    env: { GOOSE_DISABLE_KEYRING: '1', GOOSE_TELEMETRY_ENABLED: 'false', GOOSE_MODE: 'auto' },
    steps: (files) =>
      shellSteps(files).map((command) => ({ name: 'shell', arguments: { command } })),
    asides: 1,
    without_credit: { says: /add more credits/u, status: 0 },
  },
  {
    ...USUAL,
    title: 'Aider',
    package: pypiPackage('aider-chat'),
    id: 'aider',
    // Its turns are those in which the test of the task still fails.
    words: [
      '--yes-always',
      '--no-git',
      '--no-check-update',
      '--analytics-disable',
      '--no-show-model-warnings',
      '--no-show-release-notes',
      '--no-gitignore',
      '--auto-test',
      '--test-cmd',
      'grep -q hello hello.txt',
      '--message',
      PROMPT,
      'hello.txt',
    ],
    steps: () => [wholeFile('one\n'), wholeFile('two\n'), `${FINAL_TEXT}\n\n${wholeFile(CONTENT)}`],
    writes: ['hello'],
    // Its LiteLLM sends a refused call again, for a minute.
    without_credit: { calls: 9, status: 0 },
  },
];

/** Its key is a bearer token, unless lines of its own say otherwise. */
function claudeCode(way: string): Agent {
  return {
    ...USUAL,
    title: `Claude Code, ${way}`,
    package: npmPackage('@anthropic-ai/claude-code'),
    id: 'claude-code',
    words: ['-p', PROMPT, '--allowedTools=Write,Read'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    steps: toolSteps({
      write: (file_path, content) => ({ name: 'Write', arguments: { file_path, content } }),
      read: (file_path) => ({ name: 'Read', arguments: { file_path } }),
    }),
  };
}

function codex(way: string): Agent {
  return {
    ...USUAL,
    title: `codex, ${way}`,
    package: npmPackage('@openai/codex'),
    id: 'codex',
    words: [
      '-c',
      'analytics.enabled=false',
      '-c',
      'check_for_update_on_startup=false',
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      PROMPT,
    ],
    steps: (files) =>
      shellSteps(files).map((cmd) => ({ name: 'exec_command', arguments: { cmd } })),
  };
}

/** How a model writes a file to Aider. */
function wholeFile(content: string): string {
  return `hello.txt\n\`\`\`\n${content}\`\`\`\n`;
}

/** The task by an agent's tools for files. */
function toolSteps(tools: {
  write: (file: string, content: string) => ToolCall;
  read: (file: string) => ToolCall;
}): Agent['steps'] {
  return ({ hello, done }) => [
    tools.write(hello, CONTENT),
    tools.read(hello),
    tools.write(done, CONTENT),
  ];
}

/** The task by commands of a shell. */
function shellSteps({ hello, done }: TaskFiles): string[] {
  const write = (file: string): string => `printf '${CONTENT.trim()}\\n' > ${file}`;
  return [write(hello), `cat ${hello}`, write(done)];
}

/** The lines that set an agent up, with its prompt at the end. */
export function scriptOf({ words }: Agent, lines: readonly string[]): string {
  return `${lines.join('\n')} ${words.map(shellQuoted).join(' ')}\n`;
}
