import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import {
  CODING_AGENTS,
  servedAgents,
  type AgentTarget,
} from '../../../src/dashboard/coding-agents.js';
import { describeInBrowser, follow, visit } from '../../helpers/browser.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';

const SECRET = 'tg-0123456789';
const HARD: AgentTarget = {
  public_url: 'https://gateway.example.org',
  models: ['first', "it's/a model"],
  model: "it's/a model",
};

describe('the set-up of a coding agent', () => {
  let home: string;

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'tollgate-agents-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  /** What the last command is given, and its environment, where the agent is a program that tells. */
  async function started(
    id: string,
    target: AgentTarget,
  ): Promise<{ args: string[]; env: string }> {
    const lines = CODING_AGENTS.find((agent) => agent.id === id)?.lines(target) ?? [];
    const names = CODING_AGENTS.map(({ command }) => command);
    const tell = names.map((name) => `${name}() { env; printf '%s\\n' ARGS "$@"; }`).join('\n');
    const env = { HOME: home, PATH: process.env.PATH, TOLLGATE_API_KEY: SECRET };
    const script = `${tell}\n${lines.join('\n')}`;
    const { stdout } = await promisify(execFile)('sh', ['-ec', script], { env });
    const [said = '', words = ''] = stdout.split('ARGS\n').slice(-2);
    return { env: said, args: words.trimEnd().split('\n') };
  }

  it('has four lines at the most, for each agent and kind of key', () => {
    for (const { id, lines } of CODING_AGENTS) {
      expect(lines(HARD), id).to.have.length.within(2, 4);
      const filled = lines({ ...HARD, secret: SECRET });
      expect(filled, id).to.have.length.within(2, 4);
      expect(filled.join('\n'), id).to.include(SECRET);
    }
  });

  it('stands in docs/coding-agents.md', async () => {
    const page = await readFile(new URL('../../../docs/coding-agents.md', import.meta.url), 'utf8');
    const target = { public_url: 'http://127.0.0.1:8080', models: ['sim-chat'], model: 'sim-chat' };
    for (const { name, lines } of CODING_AGENTS) {
      const [, section = ''] = page.split(`\n## ${name}\n`);
      expect(section.split('\n## ')[0], name).to.include(`\n${lines(target).join('\n')}\n\`\`\`\n`);
    }
  });

  it('is shown only where the agent finds its endpoint', () => {
    const agents = servedAgents([{ path: '/v1/responses' }, { path: '/v1/models' }]);
    expect(agents.map(({ id }) => id)).to.deep.equal(['codex']);
  });

  for (const kind of ['in a variable', 'in the text']) {
    const target = kind === 'in the text' ? { ...HARD, secret: SECRET } : HARD;

    it(`survives a shell, whatever the name of the model, with the key ${kind}`, async () => {
      const claude = await started('claude-code', target);
      expect(claude.env).to.include(`ANTHROPIC_AUTH_TOKEN=${SECRET}\n`);
      expect(claude.args).to.deep.equal(['--model', HARD.model]);
      expect((await started('codex', target)).args).to.include(`model="${HARD.model}"`);
      const { env } = await started('opencode', target);
      const [, json = ''] = /OPENCODE_CONFIG_CONTENT=(.*)\n/u.exec(env) ?? [];
      expect(JSON.parse(json)).to.deep.include({ model: `tollgate/${HARD.model}` });
      expect(JSON.parse(json)).to.have.nested.property('provider.tollgate.options.apiKey', SECRET);
      expect(JSON.parse(json)).to.have.nested.property('provider.tollgate.models.first');
      await started('continue', target);
      const file = parse(await readFile(join(home, '.continue/tollgate.yaml'), 'utf8')) as {
        models: unknown[];
      };
      expect(file.models[0]).to.include({ model: HARD.model, apiKey: SECRET });
      expect((await started('gemini-cli', target)).env).to.include(`GEMINI_API_KEY=${SECRET}\n`);
      for (const id of ['qwen-code', 'goose', 'aider']) {
        expect((await started(id, target)).env, id).to.include(`OPENAI_API_KEY=${SECRET}\n`);
      }
    });
  }
});

describeInBrowser('the page of agents', (browser) => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  it('is filled with the model that a visitor chooses, without scripts', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const { page } = await visit(browser(), dashboard.url, { session, javaScriptEnabled: false });
    await page.goto('/');
    await follow(page.getByRole('link', { name: 'Agents', exact: true }));
    expect(await page.locator('.agent').count()).to.equal(CODING_AGENTS.length);
    const options = await page.locator('#model option').allTextContents();
    expect(options).to.include('llama-3.3-70b').and.not.include('gpt-image-1');
    await page.getByLabel('Model').selectOption('gemini-2.5-flash');
    await follow(page.getByRole('button', { name: 'Show' }));
    expect(await page.getByLabel('Model').inputValue()).to.equal('gemini-2.5-flash');
    expect(await page.textContent('#claude-code pre')).to.equal(
      [
        `export ANTHROPIC_BASE_URL=${dashboard.url}`,
        'export ANTHROPIC_AUTH_TOKEN=$TOLLGATE_API_KEY',
        'export ANTHROPIC_DEFAULT_HAIKU_MODEL=gemini-2.5-flash',
        'claude --model gemini-2.5-flash',
      ].join('\n'),
    );
  });

  it('comes with a new key, filled with it and with a model that it may use', async () => {
    const session = await dashboard.signIn(dashboard.account.id);
    const { page } = await visit(browser(), dashboard.url, { session, javaScriptEnabled: false });
    await page.goto('/settings/keys/new');
    await page.getByLabel('Name').fill('agent');
    await page.getByLabel('claude-sonnet-4-5').check();
    await follow(page.getByRole('button', { name: 'Create API Key' }));
    const secret = (await page.textContent('#secret')) ?? '';
    await page.locator('#claude-code summary').click();
    const text = await page.locator('#claude-code pre').innerText();
    expect(text).to.include(`ANTHROPIC_AUTH_TOKEN=${secret}`);
    expect(text).to.include('claude --model claude-sonnet-4-5');
  });
});
