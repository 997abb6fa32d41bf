import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../src/gateway/check.js';

const BASE = `owners: { me: { name: Me } }
providers: { simulator: {} }
models:
  sim: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }], price: free }
`;
const SMALL = 'limits: { body: 1kb, task: 1m }';

describe('a warning that is accepted', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-permissions-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** The warnings of a file that begins with some lines: `LINE CODE`. */
  const warningsOf = async (
    lines: string,
    { allow = [] as string[], env = {} as NodeJS.ProcessEnv, no_env = false, base = BASE } = {},
  ): Promise<string[]> => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `${lines}\n${base}`);
    const { faults, configuration } = await check(file, no_env ? undefined : env, undefined, allow);
    expect(configuration, JSON.stringify(faults)).to.not.equal(undefined);
    return faults.map(({ line, code }) => `${line} ${code}`);
  };

  it('is one without a comment', async () => {
    expect(await warningsOf(SMALL)).to.deep.equal(['1 small_limit', '1 small_limit']);
  });

  it('is left out by a comment on its line, whatever the comment says behind the code', async () => {
    const words = '# tollgate: allow small_limit: only tests call this gateway';
    expect(await warningsOf(`${SMALL} ${words}`)).to.deep.equal([]);
  });

  it('is left out by a comment above it, also with other comments between', async () => {
    const above = '# tollgate: allow small_limit';
    expect(await warningsOf(`${above}\n${SMALL}`)).to.deep.equal([]);
    expect(await warningsOf(`  ${above}\n# and why\n\n${SMALL}`)).to.deep.equal([]);
  });

  it('is not left out by the comment of a line further up or down', async () => {
    const block = (comment: string): string => `limits:\n  body: 1kb${comment}\n  task: 1m`;
    const allow = ' # tollgate: allow small_limit';
    expect(await warningsOf(block(allow))).to.deep.equal(['3 small_limit']);
    expect(await warningsOf(`${block('')}${allow}`)).to.deep.equal(['2 small_limit']);
  });

  it('may be one of several codes of a comment', async () => {
    const open = 'metrics: 0.0.0.0:9464 # tollgate: allow metrics_public, small_limit';
    expect(await warningsOf(open)).to.deep.equal(['1 unused_permission']);
    const both = '{ limits: { body: 1kb }, metrics: 0.0.0.0:9464,';
    const base = ` owners: {}, providers: {}, models: {} }`;
    const allow = '# tollgate: allow metrics_public, small_limit';
    expect(await warningsOf(`${allow}\n${both}`, { base })).to.deep.equal([]);
  });

  it('is one again where its comment is no comment', async () => {
    const text = `x-note: "# tollgate: allow small_limit"\nx-long: |\n  # tollgate: allow small_limit`;
    expect(await warningsOf(`${text}\n${SMALL}`)).to.deep.equal(['4 small_limit', '4 small_limit']);
  });

  it('is left out by an option, wherever it stands', async () => {
    expect(await warningsOf(SMALL, { allow: ['small_limit'] })).to.deep.equal([]);
  });

  it('is a warning itself where nothing is to be accepted, at the comment or the file', async () => {
    const comment = 'drain: 30s # tollgate: allow small_limit';
    expect(await warningsOf(comment)).to.deep.equal(['1 unused_permission']);
    expect(await warningsOf('', { allow: ['small_limit'] })).to.deep.equal(['1 unused_permission']);
    const also = `${comment}, unused_permission`;
    expect(await warningsOf(also)).to.deep.equal([]);
    expect(await warningsOf(comment, { allow: ['unused_permission'] })).to.deep.equal([]);
  });

  it('is named as the nearest one where a permission misspells it', async () => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `# tollgate: allow smal_limit\n${BASE}`);
    const { faults } = await check(file, {});
    expect(faults.map(({ hint }) => hint)).to.deep.equal(['did you mean "small_limit"?']);
  });

  it('may depend on variables that are not known, without which nothing is unused', async () => {
    const name = 'listen: 0.0.0.0:8080 # tollgate: allow no_tls\npublic_url: "${PUBLIC_URL}"';
    expect(await warningsOf(name, { no_env: true })).to.deep.equal([]);
    const env = { PUBLIC_URL: 'https://a.example.org' };
    expect(await warningsOf(name, { env })).to.deep.equal(['1 unused_permission']);
  });

  it('never makes an error acceptable', async () => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `limit: 3 # tollgate: allow unknown_key\n${BASE}`);
    const { faults, configuration } = await check(file, {}, undefined, ['unknown_key']);
    expect(faults.map(({ code }) => code)).to.deep.equal(['unknown_key']);
    expect(configuration).to.equal(undefined);
  });

  it('may stand in an included file, whose permissions count there alone', async () => {
    const model = (id: string, comment = ''): string =>
      `models:\n  ${id}: { owner: me, capabilities: [chat], upstreams: [{ provider: simulator }],\n` +
      `    price: free, limits: { max_tokens: 32 } } ${comment}\n`;
    await writeFile(join(folder, 'models-a.yaml'), model('a', '# tollgate: allow small_limit'));
    await writeFile(join(folder, 'models-b.yaml'), model('b'));
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `include: ['models-*.yaml']\n${BASE}`);
    const { faults } = await check(file, {});
    const found = faults.map(({ file: at, code }) => `${at.slice(folder.length + 1)} ${code}`);
    expect(found).to.deep.equal(['models-b.yaml small_limit']);
  });
});
