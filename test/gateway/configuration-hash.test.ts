import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkOrThrow } from '../../src/gateway/check.js';
import { configurationHashes } from '../../src/gateway/configuration-hash.js';

const FILE = `listen: 127.0.0.1:8080
store: sqlite:one.db
owners: { acme: { name: Acme } }
providers: { up: { uses: openai, base_url: 'http://127.0.0.1:9/v1', api_key: '\${KEY}' } }
models:
  small:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: up, timeout: { total: 20s } }]
    price: { input_per_million: 0.03, output_per_million: 0.06 }
    as: [claude-tiny]
`;

describe('the hashes of a configuration', () => {
  let folders: string[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
    folders = [];
  });

  /** Those of a file in a folder of its own. */
  async function hashesOf(text: string, key = 'sk-one') {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'));
    folders.push(folder);
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, text);
    const { configuration } = await checkOrThrow(file, { KEY: key });
    return configurationHashes(configuration);
  }

  it('are short, and the same for the same file, whatever a box has of its own', async () => {
    const one = await hashesOf(FILE);
    expect(one.configuration).to.match(/^[0-9a-f]{12}$/u);
    expect(one.prices)
      .to.match(/^[0-9a-f]{12}$/u)
      .and.not.to.equal(one.configuration);
    expect(await hashesOf(FILE)).to.deep.equal(one);
    const own = FILE.replace('127.0.0.1:8080', '0.0.0.0:9090').replace('one.db', 'two.db');
    const more = 'journal: other\nmetrics: 127.0.0.1:9464\nlimits: { in_flight_bytes: 64mb }\n';
    expect(await hashesOf(`${own}${more}# A comment.\n`)).to.deep.equal(one);
  });

  it('differ by price, and by nothing else of a price', async () => {
    const one = await hashesOf(FILE);
    const dear = await hashesOf(FILE.replace('0.03', '0.07'));
    expect(dear.prices).not.to.equal(one.prices);
    expect(dear.configuration).not.to.equal(one.configuration);
  });

  const CHANGES: [string, string, string][] = [
    ['a timeout of an upstream', 'total: 20s', 'total: 21s'],
    ['the address of a provider', '9/v1', '8/v1'],
    ['a name of a model', 'claude-tiny', 'claude-wee'],
    ['an endpoint', 'models:\n', 'endpoints: { embeddings: off }\nmodels:\n'],
    ['a limit', 'models:\n', 'limits: { failed_keys: 10 }\nmodels:\n'],
    ['a public address', 'models:\n', 'public_url: https://gate.example\nmodels:\n'],
  ];
  for (const [what, before, after] of CHANGES) {
    it(`differ by ${what}, and have the same prices`, async () => {
      const one = await hashesOf(FILE);
      const other = await hashesOf(FILE.replace(before, after));
      expect(other.configuration).not.to.equal(one.configuration);
      expect(other.prices).to.equal(one.prices);
    });
  }

  it('differ by a secret of the environment', async () => {
    const one = await hashesOf(FILE);
    const other = await hashesOf(FILE, 'sk-two');
    expect(other.configuration).not.to.equal(one.configuration);
    expect(other.prices).to.equal(one.prices);
  });
});
