import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Configuration } from '../../src/core/configuration.js';
import { check } from '../../src/gateway/check.js';
import { differences } from '../../src/gateway/differences.js';

const BASE = `owners: { acme: { name: Acme }, other: { name: Other } }
providers:
  here: { uses: openai, base_url: 'http://127.0.0.1:9000/v1', api_key: '\${KEY}' }
  there: { uses: openai, base_url: 'http://127.0.0.1:9001/v1', api_key: '\${KEY}' }
models:
  small:
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: here, model: one }]
    limits: { max_tokens: 4000, context: 100000 }
    price: { input_per_million: 1.00, output_per_million: 2.00 }
    passthrough: [my_field]
  second:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: there, model: two }]
    price: free
`;

/** A change of the file, the sentences that tell it, and whether a client loses something. */
const PAIRS: [title: string, from: string, to: string, told: string[], loses: boolean][] = [
  [
    'a model that is gone',
    BASE.slice(BASE.indexOf('  second:')),
    '',
    ['model second is gone'],
    true,
  ],
  [
    'headers that tell of upstreams, which the log of a reload called no change',
    'owners: {',
    'headers: { upstream: true, attempts: true }\nowners: {',
    ['answers have the header tollgate-upstream', 'answers have the header tollgate-attempts'],
    false,
  ],
  [
    'a header that answers no longer have',
    'owners: {',
    'headers: { cost: false }\nowners: {',
    ['answers have no header tollgate-cost any more'],
    true,
  ],
  [
    'a price that rises',
    'input_per_million: 1.00',
    'input_per_million: 1.20',
    [
      'model small: input_per_million up by 20 %, from 1.00 to 1.20',
      'model small: the hold of an example chat call grows from ',
    ],
    false,
  ],
  [
    'a price that falls',
    'output_per_million: 2.00',
    'output_per_million: 0.50',
    ['model small: output_per_million down by 75 %, from 2.00 to 0.50'],
    false,
  ],
  [
    'a free model that has a price now',
    'price: free',
    'price: { input_per_million: 1, output_per_million: 1 }',
    ['model second: it was free and has a price now', 'model second: the hold of an example'],
    false,
  ],
  [
    'a capability that is gone',
    '[chat, tools]',
    '[chat]',
    ['model small: the capability tools is gone'],
    true,
  ],
  [
    'a field that is gone',
    'passthrough: [my_field]',
    'passthrough: []',
    ['model small: the field my_field is gone'],
    true,
  ],
  [
    'a limit that is lower',
    'max_tokens: 4000',
    'max_tokens: 2000',
    ['model small: the limit max_tokens is 2000, 4000 before'],
    true,
  ],
  [
    'a limit that is higher',
    'context: 100000',
    'context: 200000',
    ['model small: the limit context is 200000, 100000 before'],
    false,
  ],
  [
    'an upstream that moved',
    'provider: here, model: one',
    'provider: there, model: one',
    ['model small: its upstreams are there one; here one before'],
    false,
  ],
  [
    'an endpoint that is gone',
    'owners:',
    'endpoints: { embeddings: off }\nowners:',
    ['endpoint POST /v1/embeddings is gone'],
    true,
  ],
  [
    'an address that moved',
    '127.0.0.1:9001',
    '127.0.0.1:9002',
    ['provider there: its address is http://127.0.0.1:9002/v1, http://127.0.0.1:9001/v1 before'],
    false,
  ],
  [
    'an owner that changed',
    'owner: acme\n    capabilities: [chat]',
    'owner: other\n    capabilities: [chat]',
    ['model second: its owner is other, acme before'],
    false,
  ],
];

describe('the differences of two configurations', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'tollgate-diff-'))));
  after(() => rm(folder, { recursive: true }));

  const read = async (yaml: string): Promise<Configuration> => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, yaml);
    const { configuration, faults } = await check(file, undefined);
    if (!configuration) throw new Error(JSON.stringify(faults));
    return configuration;
  };

  it('are none where nothing changes', async () => {
    expect(await differences(await read(BASE), await read(BASE))).to.deep.equal([]);
  });

  for (const [title, from, to, told, loses] of PAIRS) {
    it(`tell of ${title}`, async () => {
      expect(BASE).to.include(from);
      const found = await differences(await read(BASE), await read(BASE.replace(from, to)));
      for (const sentence of told) {
        expect(found.map(({ text }) => text).join('\n')).to.include(sentence);
      }
      expect(found.some((one) => one.loses)).to.equal(loses);
    });
  }

  it('tell of what is new, and clients lose nothing', async () => {
    const small = BASE.slice(0, BASE.indexOf('  second:'));
    const found = await differences(await read(small), await read(BASE));
    expect(found).to.deep.equal([{ loses: false, text: 'model second is new' }]);
  });
});
