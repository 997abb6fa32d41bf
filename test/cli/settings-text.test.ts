import { expect } from 'chai';
import fc from 'fast-check';
import { parse as parseToml, stringify as stringifyToml } from 'smol-toml';
import { parse as parseYaml, stringify as stringifyYaml } from 'yaml';
import { withSettings } from '../../src/cli/settings-text.js';
import { CODING_AGENTS, type SettingsFile } from '../../src/dashboard/coding-agents.js';

const target = { public_url: 'http://127.0.0.1:8080', models: ['a'], model: 'a', secret: 'tg-1' };

/** The first settings file of an agent, with a key in it or in a variable. */
function fileOf(id: string, secret: string | undefined): SettingsFile {
  const agent = CODING_AGENTS.find((each) => each.id === id);
  const { public_url, models, model } = target;
  const [file] =
    agent?.files?.({ public_url, models, model, ...(secret !== undefined && { secret }) }) ?? [];
  if (!file) throw new Error(`${id} has no file.`);
  return file;
}

const codex = fileOf('codex', 'tg-1');
const proxy = fileOf('continue', 'tg-1');
const values = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,8}$/u),
  fc.oneof(fc.string(), fc.boolean(), fc.integer(), fc.array(fc.string(), { maxLength: 3 })),
  { maxKeys: 5 },
);

describe('settings put into a text', () => {
  it('leave all other values as they are, whatever they are', () => {
    fc.assert(
      fc.property(values, fc.dictionary(fc.constantFrom('x', 'y'), values), (top, tables) => {
        const {
          model: _,
          models: __,
          ...others
        } = { ...top, ...tables } as Record<string, unknown>;
        const formats: [string, (text: string) => unknown, string][] = [
          ['codex', (text) => parseToml(text), stringifyToml(others)],
          ['aider', (text) => parseYaml(text) as unknown, stringifyYaml(others)],
          ['opencode', (text) => JSON.parse(text) as unknown, JSON.stringify(others)],
        ];
        for (const [id, parse, text] of formats) {
          const file = fileOf(id, 'tg-1');
          const changed = withSettings(text, file);
          const now = parse(changed) as Record<string, unknown>;
          for (const [name, value] of Object.entries(others)) {
            expect(now[name], `${id} ${name}`).to.deep.equal(value);
          }
          expect(now, id).to.include.keys(Object.keys(file.values));
          expect(withSettings(changed, file), id).to.equal(changed);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('keep the comments and the layout of TOML', () => {
    const text = '# mine\nmodel = "o3"\n\n[mcp.x] # tools\nargs = ["a",\n  "b"]\n';
    const changed = withSettings(text, codex);
    expect(changed).to.equal(
      '# mine\nmodel = "a"\nmodel_provider = "tollgate"\n\n[mcp.x] # tools\nargs = ["a",\n  "b"]\n' +
        '\n[model_providers.tollgate]\nname = "Tollgate"\nbase_url = "http://127.0.0.1:8080/v1"\n' +
        'experimental_bearer_token = "tg-1"\n',
    );
    const without = withSettings(changed, fileOf('codex', undefined));
    expect(without).to.include('env_key = "TOLLGATE_API_KEY"').and.not.include('tg-1');
  });

  it('keep the comments of YAML, and put a new model first', () => {
    const text = '# mine\nname: me # too\nmodels:\n  # big\n  - name: b\n    model: b\n';
    const changed = withSettings(text, proxy);
    expect(changed).to.include('# mine\nname: me # too\nmodels:\n').and.include('# big');
    const { models } = parseYaml(changed) as { models: { name: string }[] };
    expect(models.map(({ name }) => name)).to.deep.equal(['a', 'b']);
    const again = withSettings(changed, fileOf('continue', undefined));
    expect((parseYaml(again) as { models: unknown[] }).models).to.have.length(2);
    expect(again).to.include('secrets.TOLLGATE_API_KEY').and.not.include('tg-1');
  });

  it('change, add and take away the lines of variables', () => {
    const file = { format: 'env', values: { A: 'http://x', B: 'it is', C: undefined } } as const;
    expect(withSettings('# mine\nexport A=1\nC=3\n', file)).to.equal(
      "# mine\nA=http://x\nB='it is'\n",
    );
    expect(withSettings('', file)).to.equal("A=http://x\nB='it is'\n");
  });

  for (const [what, text, file] of [
    ['JSON with comments', '{ // mine\n}', fileOf('opencode', 'tg-1')],
    ['a list in place of an object', '[]', fileOf('opencode', 'tg-1')],
    ['a text in place of a table', 'model_providers = "none"\n', codex],
    ['a text in place of a list', 'models: none\n', proxy],
    ['TOML with a table within a line', 'model_providers = { x = { name = "x" } }\n', codex],
    ['TOML whose text looks like a line of it', 'note = """\nmodel = "x"\n"""\n', codex],
    ['YAML that is torn', 'models: [', proxy],
    ['TOML that is torn', 'model = ', codex],
  ] as const) {
    it(`are refused by ${what}`, () => {
      expect(() => withSettings(text, file)).to.throw(/^(?:is|has) /u);
    });
  }
});
