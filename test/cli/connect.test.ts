import { expect } from 'chai';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CODING_AGENTS } from '../../src/dashboard/coding-agents.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import type { Outcome } from '../helpers/run-command.js';

const SECRET = 'tg-0123456789';
const MODELS = `  coder: { owner: me, capabilities: [chat, tools], upstreams: [{ provider: simulator }], price: free }
  best: { alias: coder }
  film: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], price: free }
public_url: https://gateway.example.org
`;

interface Shown {
  model: string;
  has_key: boolean;
  lines: string[];
  files: { path: string; backup?: string | null; is_changed?: boolean }[];
}

describe('tollgate connect', () => {
  let place: Place;

  beforeEach(async () => {
    const env: NodeJS.ProcessEnv = { OF_ENV: SECRET };
    place = await makePlace(SIMULATED + MODELS, env);
    env.HOME = place.folder;
  });
  afterEach(() => place.close());

  const at = (path: string): string => join(place.folder, path);
  const read = (path: string): Promise<string> => readFile(at(path), 'utf8');
  const modeOf = async (path: string): Promise<number> => (await stat(at(path))).mode & 0o777;
  const connect = (...args: string[]): Promise<Outcome> => place.tollgate('connect', ...args);
  const written = (id: string, ...args: string[]): Promise<Shown> =>
    place.json<Shown>('connect', id, '--write', ...args);

  async function put(path: string, text: string): Promise<void> {
    await mkdir(dirname(at(path)), { recursive: true });
    await writeFile(at(path), text);
  }

  it('prints the lines of the dashboard for the first model that calls tools', async () => {
    for (const { id, name, lines, edits_by_text } of CODING_AGENTS) {
      const target = {
        public_url: 'https://gateway.example.org',
        models: ['coder'],
        model: 'coder',
      };
      const { stdout, stderr, status } = await connect(
        id,
        ...(edits_by_text ? ['--model', 'coder'] : []),
      );
      expect({ stderr, status }).to.deep.equal({ stderr: '', status: 0 });
      expect(stdout).to.include(`# ${name}\n${lines(target).join('\n')}\n`);
      expect(stdout).not.to.include(SECRET);
    }
  });

  it('fills a key in that is typed, or that a variable has', async () => {
    for (const args of [
      ['--key', SECRET],
      ['--key-env', 'OF_ENV'],
    ]) {
      const { stdout } = await connect('claude-code', ...args);
      expect(stdout).to.include(`export ANTHROPIC_AUTH_TOKEN=${SECRET}\n`);
    }
  });

  it('takes an alias, and for Aider a model without tools', async () => {
    expect((await connect('codex', '--model', 'best')).stdout).to.include('model="best"');
    expect((await connect('aider', '--model', 'sim')).stdout).to.include('openai/sim');
  });

  const refusals: [args: string[], said: string][] = [
    [['claude'], 'there is no agent "claude"; did you mean "claude-code"?'],
    [['emacs'], 'there is no agent "emacs"; known: claude-code, codex'],
    [['codex', '--model', 'codr'], 'there is no model "codr"; did you mean "coder"?'],
    [['codex', '--model', 'sim'], 'the model "sim" does not call tools, which codex needs'],
    [['codex', '--model', 'film'], 'the model "film" does no chat, which codex needs'],
    [['codex', '--key', 'a b'], 'a key is one word of printable characters'],
    [['codex', '--key-env', 'NONE'], 'the variable NONE is not set'],
    [['codex', '--key', 'a', '--key-env', 'OF_ENV'], 'give --key or --key-env, not both'],
    [['cline', '--write'], 'only Cline itself writes its settings'],
  ];
  for (const [args, said] of refusals) {
    it(`refuses ${args.join(' ')} in one sentence`, async () => {
      const { stdout, stderr, status } = await connect(...args);
      expect({ stdout, status }).to.deep.equal({ stdout: '', status: 1 });
      expect(stderr)
        .to.match(/^tollgate: [^\n]+\n$/u)
        .and.include(said);
    });
  }

  it('says which endpoint of an agent is not served, and that no model calls tools', async () => {
    await place.write(`${SIMULATED}${MODELS}endpoints: { responses: off }
`);
    expect((await connect('codex')).stderr).to.include('has no endpoint /v1/responses');
    await place.write(SIMULATED);
    expect((await connect('codex')).stderr).to.include('gateway.yaml calls tools');
  });

  it('writes new files that their owner alone reads, and says what is left to do', async () => {
    for (const { id, files } of CODING_AGENTS) {
      if (!files) continue;
      const done = await written(id, '--key', SECRET);
      expect(done.files, id).to.have.length.above(0);
      for (const { path, backup } of done.files) {
        expect(await modeOf(path.slice(place.folder.length)), path).to.equal(0o600);
        expect(backup).to.equal(null);
      }
      expect(done.lines.join(), id).not.to.include('export');
      const texts = await Promise.all(done.files.map(({ path }) => readFile(path, 'utf8')));
      expect(texts.join(), id).to.include(SECRET);
    }
  });

  it('without a key has no secret in a file: the agent reads a variable', async () => {
    for (const { id, files, variable } of CODING_AGENTS) {
      if (!files) continue;
      const { lines } = await written(id);
      expect(lines[0], id).to.include(`export ${variable}=`);
    }
    expect(await read('.claude/settings.json')).to.include('printenv TOLLGATE_API_KEY');
    expect(await read('.gemini/.env')).not.to.include('KEY');
  });

  it('keeps what is there, with a copy, and does nothing the second time', async () => {
    await put('.claude/settings.json', '{\n\t"theme": "dark",\n\t"env": { "A": "1" }\n}\n');
    await chmod(at('.claude/settings.json'), 0o644);
    const [first] = (await written('claude-code')).files;
    expect(first?.backup).to.equal(at('.claude/settings.json.bak'));
    expect(await read('.claude/settings.json.bak')).to.include('"theme": "dark"');
    const text = await read('.claude/settings.json');
    expect(text).to.match(/^\{\n\t"theme": "dark",\n\t"env": \{\n\t\t"A": "1",/u);
    expect(await modeOf('.claude/settings.json')).to.equal(0o600);
    expect(await modeOf('.claude/settings.json.bak')).to.equal(0o600);
    const [second] = (await written('claude-code')).files;
    expect(second).to.deep.include({ backup: null, is_changed: false });
    expect((await written('claude-code', '--key', SECRET)).files[0]?.backup).to.match(/\.bak2$/u);
    expect(await read('.claude/settings.json')).not.to.include('apiKeyHelper');
    expect((await readdir(at('.claude'))).sort()).to.deep.equal([
      'settings.json',
      'settings.json.bak',
      'settings.json.bak2',
    ]);
  });

  it('follows the variables of an agent, and a link to another file', async () => {
    await put('dotfiles/config.toml', '# mine\n');
    await mkdir(at('codex'));
    await symlink(at('dotfiles/config.toml'), at('codex/config.toml'));
    const env = { HOME: place.folder, CODEX_HOME: at('codex') };
    const other = await makePlace(SIMULATED + MODELS, env);
    try {
      await other.json('connect', 'codex', '--write');
    } finally {
      await other.close();
    }
    expect(await read('dotfiles/config.toml')).to.match(/^# mine\nmodel = "coder"\n/u);
    expect((await readdir(at('codex'))).sort()).to.deep.equal(['config.toml']);
  });

  it('refuses a file that it cannot read, and changes none', async () => {
    await put('.gemini/settings.json', '{ "theme": // dark\n');
    const { stderr, status } = await connect('gemini-cli', '--write');
    expect(status).to.equal(1);
    expect(stderr).to.match(/^tollgate: \S+settings\.json is no JSON that can be read: [^\n]+\n$/u);
    expect(await readdir(at('.gemini'))).to.deep.equal(['settings.json']);
  });

  it('says in one sentence that a folder cannot be made', async () => {
    await put('.gemini', 'a file');
    const { stderr, status } = await connect('gemini-cli', '--write');
    expect(status).to.equal(1);
    expect(stderr).to.match(/^tollgate: [^\n]+ is a file[^\n]*\n$/u);
  });
});
