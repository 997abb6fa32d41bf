import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../src/config/load.js';
import { MAX_FILES } from '../../src/config/include.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { FAULT_FORMATS, format } from '../../src/yaml/format.js';

const MAIN = `include: [models/*.yaml]
owners: { me: { name: Me } }
providers: { simulator: {} }
`;

function model(id: string, more = ''): string {
  const upstreams = 'upstreams: [{ provider: simulator }]';
  return `models:\n  ${id}: { owner: me, capabilities: [chat], ${upstreams}, price: free${more} }\n`;
}

describe('a configuration of several files', () => {
  let folder: string;
  let main: string;

  const write = (name: string, text: string): Promise<void> =>
    writeFile(join(folder, 'models', name), text);
  const loaded = () => load(main, {}, MODALITIES);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-include-'));
    await mkdir(join(folder, 'models'));
    main = join(folder, 'gateway.yaml');
    await writeFile(main, MAIN);
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('has the entries of the main file, then those of the others by name', async () => {
    await writeFile(main, MAIN + model('last'));
    await write('b.yaml', model('second'));
    await write('a.yaml', `${model('first')}owners: { you: { name: You } }\n`);
    const { configuration, faults } = await loaded();
    expect([...(configuration?.models.keys() ?? [])]).to.deep.equal(['last', 'first', 'second']);
    expect([...(configuration?.owners.keys() ?? [])]).to.deep.equal(['me', 'you']);
    expect(faults).to.deep.equal([]);
  });

  it('reads paths and secrets as if they stood in the main file', async () => {
    await writeFile(join(folder, 'key.txt'), 'sk-from-a-file\n');
    const lab = 'uses: openai, base_url: http://127.0.0.1:9/v1, api_key: "${file:key.txt}"';
    const secret = `providers: { lab: { ${lab} } }\n`;
    await write('a.yaml', secret + model('first').replace('simulator', 'lab'));
    const { configuration, faults } = await loaded();
    expect(faults).to.deep.equal([]);
    const { headers } = configuration?.providers.get('lab') ?? {};
    expect(JSON.stringify(headers)).to.include('sk-from-a-file');
  });

  it('tells the included file in each format, with its line', async () => {
    const text = model('first', ', prise: free');
    await write('a.yaml', text);
    const { faults } = await loaded();
    const file = join(folder, 'models', 'a.yaml');
    expect(faults).to.have.length(1);
    expect(faults[0]).to.deep.include({ file, line: 2, code: 'unknown_key' });
    for (const style of FAULT_FORMATS) {
      const shown = format(faults, style, (name) => (name === file ? text.split('\n') : undefined));
      expect(shown, style).to.include(file);
      if (style === 'text')
        expect(shown).to.include('^ unknown_key').and.include('    2 |   first:');
    }
  });

  it('blames no name that may stand in a file which cannot be read', async () => {
    await write('a.yaml', 'providers: [\n');
    await write(
      'b.yaml',
      model('first').replace('simulator', 'lab').replace('owner: me', 'owner: x'),
    );
    const { faults, configuration } = await loaded();
    expect(configuration).to.equal(undefined);
    expect(faults.map(({ code }) => code)).to.deep.equal(['yaml']);
  });

  it('does not include itself', async () => {
    await writeFile(main, MAIN.replace('models/*.yaml', '"*.yaml"') + model('first'));
    const { faults } = await loaded();
    expect(faults.map(({ code }) => code)).to.deep.equal(['no_such_file']);
  });

  it('refuses more files, and more values, than there are in any gateway', async () => {
    const names = Array.from({ length: MAX_FILES + 1 }, (_, at) => `${at}.yaml`);
    await Promise.all(names.map((name) => write(name, 'x-a: 1\n')));
    const { faults } = await loaded();
    expect(faults.map(({ code, line }) => [code, line])).to.deep.include(['too_large', 1]);
    await Promise.all(names.slice(1).map((name) => rm(join(folder, 'models', name))));
    const list = `[${'1,'.repeat(120_000)}1]`;
    await write('0.yaml', `x-a: ${list}\n`);
    await write('1.yaml', `x-a: ${list}\n`);
    const { faults: more } = await loaded();
    expect(more.map(({ code, file }) => [code, file])).to.deep.equal([
      ['too_large', join(folder, 'models', '1.yaml')],
    ]);
  });
});
