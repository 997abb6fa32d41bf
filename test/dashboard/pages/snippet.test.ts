import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { codeOf, type Language } from '../../../src/dashboard/pages/call-code.js';
import { snippet } from '../../../src/dashboard/pages/snippet.js';
import { startDashboard, type TestDashboard } from '../../helpers/dashboard.js';

const run = promisify(execFile);

/** How a program is run that somebody has pasted. */
const RUNNERS: Partial<Record<Language, (text: string) => [string, string[]]>> = {
  curl: (text) => ['bash', ['-c', text.replaceAll('curl ', 'curl -sS ')]],
  node: (text) => [process.execPath, ['--input-type=module', '-e', text]],
};

const CASES: { language: Language; model: string; answer: RegExp }[] = [
  { language: 'curl', model: 'gpt-4o-mini', answer: /"choices":\[/u },
  { language: 'curl', model: 'gpt-image-1', answer: /"url":"http/u },
  { language: 'curl', model: 'google/veo-3.1', answer: /"status_url":"/u },
  { language: 'node', model: 'gpt-4o-mini', answer: /\w{3}/u },
  { language: 'node', model: 'gpt-image-1', answer: /^http/u },
  { language: 'node', model: 'google/veo-3.1', answer: /COMPLETED[^]*video_seconds: 4/u },
];

async function isThere(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}

describe('a sample call on the pages', () => {
  let dashboard: TestDashboard;

  before(async () => {
    dashboard = await startDashboard();
  });
  after(() => dashboard.close());

  function written(language: Language, id: string): string {
    const { models, public_url } = dashboard.gateway.configuration;
    const model = models.get(id);
    if (!model) throw new Error(`There is no model ${id}.`);
    return snippet(language, model, public_url);
  }

  for (const { language, model, answer } of CASES) {
    it(`in ${language} works for ${model} when it is pasted`, async function () {
      if (!(await isThere(language === 'curl' ? 'curl' : process.execPath))) this.skip();
      const [program, words] = RUNNERS[language]?.(written(language, model)) ?? ['false', []];
      const env = { PATH: process.env.PATH, TOLLGATE_API_KEY: dashboard.secret };
      const { stdout } = await run(program, words, { env });
      expect(stdout).to.match(answer);
    });
  }

  it('keeps an answer of bytes in a file', () => {
    const { models } = dashboard.gateway.configuration;
    const chat = models.get('gpt-4o-mini');
    if (!chat) throw new Error('There is no model.');
    const model = { ...chat, capabilities: new Set(['speech'] as const) };
    const at = 'https://ai.example.org';
    expect(snippet('curl', model, at)).to.match(/\/v1\/audio\/speech[^]* -o speech\.mp3$/u);
    expect(snippet('python', model, at)).to.match(/answer\.write_to_file\("speech\.mp3"\)$/u);
    expect(snippet('node', model, at)).to.match(/^import \{ writeFile \}[^]*speech\.mp3/u);
  });

  it('sends a file along where one is needed', () => {
    const { models } = dashboard.gateway.configuration;
    const chat = models.get('gpt-4o-mini');
    if (!chat) throw new Error('There is no model.');
    const model = { ...chat, capabilities: new Set(['transcription'] as const) };
    const at = 'https://ai.example.org';
    const curl = snippet('curl', model, at);
    expect(curl).to.match(/-F "model=gpt-4o-mini" \\\n {2}-F "file=@speech\.mp3"$/u);
    expect(snippet('python', model, at)).to.include('file=open("speech.mp3", "rb"),\n)');
    expect(snippet('node', model, at)).to.include("file: createReadStream('speech.mp3'),\n})");
  });

  it('writes apostrophes for the shell, and the words of Python', () => {
    const body = { prompt: "It's", parameters: { generate_audio: true, seed: null } };
    const call = { path: '/v1/queue/some', body };
    const at = 'https://ai.example.org';
    expect(codeOf('curl', call, at)).to.include(`"prompt": "It'\\''s"`);
    const python = '{"prompt": "It\'s", "parameters": {"generate_audio": True, "seed": None}}';
    expect(codeOf('python', call, at)).to.include(`json=${python},`);
  });

  it('in Python is Python', async function () {
    if (!(await isThere('python3'))) this.skip();
    for (const model of ['gpt-4o-mini', 'gpt-image-1', 'google/veo-3.1']) {
      const text = written('python', model);
      await run('python3', ['-c', 'import ast, sys; ast.parse(sys.argv[1])', text]);
      expect(text).to.include(dashboard.url);
    }
  });
});
