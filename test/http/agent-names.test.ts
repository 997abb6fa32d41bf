import { expect } from 'chai';
import fc from 'fast-check';
import { AgentNames, OTHER_AGENT } from '../../src/http/agent-names.js';

/** User agents as the clients send them. */
const SENT: Readonly<Record<string, string | null>> = {
  'claude-cli/2.1.330 (external, sdk-cli)': 'claude-cli',
  'claude-code/2.1.330': 'claude-cli',
  'codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)': 'codex',
  'codex_cli_rs/0.169.0 (Debian 12.0.0; x86_64)': 'codex',
  'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14': 'opencode',
  'Kilo-Code/7.7.9 ai-sdk/provider-utils/4.0.27 runtime/bun/1.3.14': 'kilo-code',
  'GeminiCLI-tui/0.61.0/fake-chat (linux; x64; terminal)': 'gemini-cli',
  'GeminiCLI/0.61.0/fake-chat (linux; x64)': 'gemini-cli',
  'QwenCode/0.24.4 (linux; x64)': 'qwen-code',
  'OpenAI/JS 7.57.0': 'openai-js',
  'OpenAI/Python 2.8.1': 'openai-python',
  'AsyncOpenAI/Python 2.8.1': 'openai-python',
  'Anthropic/JS 1.12.0': 'anthropic-js',
  'ls/JS 5.23.2': 'ls-js',
  'Agents/JavaScript 0.20.0': 'agents-javascript',
  'ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/24': 'ai-sdk',
  'ai-sdk-openai/4.0.118 ai-sdk-provider-utils/5.0.81 node.js/24': 'ai-sdk',
  'ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30 runtime/bun/1.3.13': 'ai-sdk',
  'langchainjs-openai/1.0.0 ((node/v24.21.0; linux; x64))': 'langchainjs-openai',
  'mistral-client-typescript/2.7.0': 'mistral-client-typescript',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/144.0.0.0': 'browser',
  node: 'node',
  '': null,
  '(nameless)': null,
  '"><script>alert(1)</script>': null,
};

describe('the name of an agent', () => {
  for (const [user_agent, name] of Object.entries(SENT)) {
    it(`is ${name} for "${user_agent}"`, () => {
      expect(new AgentNames(0).nameOfAgent(user_agent)).to.equal(
        name === 'mistral-client-typescript' ? OTHER_AGENT : name,
      );
      expect(new AgentNames().nameOfAgent(user_agent)).to.equal(name);
    });
  }

  it('is null without a user agent', () => {
    expect(new AgentNames().nameOfAgent(undefined)).to.equal(null);
  });

  it('stays the same for a program however many came since', () => {
    const names = new AgentNames(2);
    for (const one of ['first/1', 'second/1', 'third/1', 'curl/8.5'].flatMap((each) => [
      each,
      each,
    ]))
      names.nameOfAgent(one);
    for (let at = 0; at < 2_000; at += 1) names.nameOfAgent(`robot-${at}/1`);
    expect(names.nameOfAgent('first/2')).to.equal('first');
    expect(names.nameOfAgent('second/2')).to.equal('second');
    expect(names.nameOfAgent('third/2')).to.equal(OTHER_AGENT);
    expect(names.nameOfAgent('curl/9')).to.equal('curl');
  });

  it('is one of few, short and of safe characters, whatever clients send', () => {
    const names = new AgentNames(5);
    const found = new Set<string>();
    const any = fc.oneof(fc.string({ maxLength: 300 }), fc.stringMatching(/^[A-Za-z]\w*\/\d/u));
    fc.assert(
      fc.property(any, (user_agent) => {
        const name = names.nameOfAgent(user_agent);
        expect(name ?? 'none').to.match(/^[a-z][a-z0-9._-]{0,31}$/u);
        if (name !== null) found.add(name);
      }),
      { numRuns: 300 },
    );
    const known = [...found].filter((name) => new AgentNames(0).nameOfAgent(name) === name);
    expect(found.size - known.length).to.be.within(1, 6);
  });
});
