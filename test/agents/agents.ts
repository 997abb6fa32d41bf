import { shellQuoted } from '../../src/lib/shell-quote.js';
import { CODING_AGENTS } from '../../src/dashboard/coding-agents.js';
import type { Package } from './install.js';
import type { ToolCall, Turn } from './script.js';

const PROMPT = 'Write a file hello.txt';
export const CONTENT = 'hello from the fake model\n';
/** A model's name that no agent knows. */
const PLAIN_MODEL = 'acme-coder';

/** A coding agent: it is set up by the lines of the dashboard, and then asked once. */
export interface Agent {
  title: string;
  package: Package;
  model: string;
  /** Its name among the set-ups of the dashboard. */
  snippet: string;
  /** Changes a line of the set-up, where another variable takes the key as well. */
  rewrite?: (line: string) => string;
  /** What follows the set-up's last line, for one prompt without a terminal. */
  words: readonly string[];
  /** Keeps it from sending anything but requests for the model. */
  env: Record<string, string>;
  /** Files by their path from the home folder, for what has no variable. */
  files?: Record<string, string>;
  writes: (file: string) => ToolCall;
  /** The calls of one run; more than two only where the agent has a cause for them. */
  turns: readonly Turn[];
}

/** The parts of most agents. */
const USUAL = { model: PLAIN_MODEL, env: {}, turns: ['tool', 'text'] } as const;

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
    snippet: 'opencode',
    words: ['run', PROMPT],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_SHARE: '1',
    },
    writes: (file) => ({ name: 'write', arguments: { filePath: file, content: CONTENT } }),
    // It asks for a title of the session beside its first turn.
    turns: ['aside', 'tool', 'text'],
  },
  {
    ...USUAL,
    title: 'Gemini CLI',
    package: { name: '@google/gemini-cli', version: '0.61.0' },
    snippet: 'gemini-cli',
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
    writes: (file) => ({ name: 'write_file', arguments: { file_path: file, content: CONTENT } }),
  },
  {
    ...USUAL,
    title: 'Qwen Code',
    package: { name: '@qwen-code/qwen-code', version: '0.24.4' },
    snippet: 'qwen-code',
    words: ['-p', PROMPT, '--approval-mode=auto-edit'],
    files: {
      '.qwen/settings.json': JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      }),
    },
    writes: (file) => ({ name: 'write_file', arguments: { file_path: file, content: CONTENT } }),
  },
  {
    ...USUAL,
    title: 'Cline',
    package: { name: 'cline', version: '3.0.65' },
    snippet: 'cline',
    words: [PROMPT],
    env: { CLINE_TELEMETRY_DISABLED: '1' },
    writes: (file) => ({ name: 'editor', arguments: { path: file, new_text: CONTENT } }),
  },
  {
    ...USUAL,
    title: 'Continue',
    package: { name: '@continuedev/cli', version: '1.5.47' },
    snippet: 'continue',
    words: ['-p', PROMPT, '--allow', 'Write'],
    env: { CONTINUE_TELEMETRY_ENABLED: '0' },
    writes: (file) => ({ name: 'Write', arguments: { filepath: file, content: CONTENT } }),
  },
];

/** The key is a bearer token in one variable, and `x-api-key` in the other. */
function claudeCode(variable: string): Agent {
  return {
    ...USUAL,
    title: `Claude Code, ${variable}`,
    package: { name: '@anthropic-ai/claude-code', version: '2.1.330' },
    snippet: 'claude-code',
    rewrite: (line) => line.replace('ANTHROPIC_AUTH_TOKEN', variable),
    words: ['-p', PROMPT, '--allowedTools=Write'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
    writes: (file) => ({ name: 'Write', arguments: { file_path: file, content: CONTENT } }),
  };
}

function codex(title: string, model: string, writes: (command: string) => ToolCall): Agent {
  return {
    ...USUAL,
    title: `codex, ${title}`,
    package: { name: '@openai/codex', version: '0.169.0' },
    snippet: 'codex',
    model,
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
    writes: (file) => writes(`printf '${CONTENT.trim()}\\n' > ${file}`),
  };
}

/** The lines of the dashboard for an agent, with a prompt at the end. */
export function scriptOf(
  { snippet, rewrite = (line) => line, words, model }: Agent,
  gateway: { url: string; secret: string },
): string {
  const found = CODING_AGENTS.find(({ id }) => id === snippet);
  if (!found) throw new Error(`The dashboard has no set-up ${snippet}.`);
  const { url: public_url, secret } = gateway;
  const lines = found.lines({ public_url, secret, model, models: [model] }).map(rewrite);
  return `${lines.join('\n')} ${words.map(shellQuoted).join(' ')}\n`;
}
