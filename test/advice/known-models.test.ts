import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../../src/gateway/check.js';

const LIST = `lists:
  openai:
    source: a page
    date: 2026-11-01
    models:
      able: { input_per_million: 1.00, output_per_million: 2.00 }
    about:
      able: { context: 100000, max_tokens: 10000, has: [vision], lacks: [tools, audio], retires: 2026-12-20 }
      ended: { gone: true }
      unsaid: { context: 100000 }
`;
const NOW_MS = Date.UTC(2026, 11, 1);

describe('what is known of models', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-known-'));
    await writeFile(join(folder, 'prices.yaml'), LIST);
  });
  after(() => rm(folder, { recursive: true }));

  /** The faults of one model, `CODE MESSAGE` each. */
  const faultsOf = async (
    model: string,
    more: string,
    now_ms?: number,
    address = '',
  ): Promise<string[]> => {
    const file = join(folder, 'gateway.yaml');
    const price = 'price: { input_per_million: 1.00, output_per_million: 2.00 }';
    const upstreams = `upstreams: [{ provider: openai, model: ${model} }]`;
    const text = `owners: { us: { name: Us } }
providers: { openai: { api_key: k${address} } }
models: { m: { owner: us, ${upstreams}, ${price}, ${more} } }
`;
    await writeFile(file, text);
    const { faults } = await check(file, {}, undefined, [], now_ms);
    return faults.map(({ code, message }) => `${code} ${message}`);
  };

  it('is not contradicted by a limit beyond it', async () => {
    const limits = 'capabilities: [chat], limits: { max_tokens: 10001, context: 106000 }';
    expect(await faultsOf('able', limits)).to.deep.equal([
      'out_of_range limits.max_tokens: "10001" is more than "able" at "openai" writes',
      'out_of_range limits.context: "106000" is more than "able" at "openai" takes in all',
    ]);
    const within = 'capabilities: [chat], limits: { max_tokens: 10000, context: 105000 }';
    expect(await faultsOf('able', within)).to.deep.equal([]);
  });

  it('is not contradicted by a capability that the model lacks', async () => {
    const has = 'limits: { max_tokens: 10000, context: 105000 }, capabilities: [chat,';
    expect(await faultsOf('able', `${has} tools]`)).to.deep.equal([
      'other_work capabilities: "able" calls no tools, so requests with them fail',
    ]);
    expect(await faultsOf('able', `${has} vision]`)).to.deep.equal([]);
    expect(await faultsOf('unsaid', `${has} tools, vision]`)).to.deep.equal([]);
  });

  it('tells a model that ends within 30 days, has ended, or is gone, where the day is known', async () => {
    const plain = 'capabilities: [chat], limits: { max_tokens: 10000, context: 105000 }';
    const day = 86_400_000;
    expect(await faultsOf('able', plain, NOW_MS)).to.deep.equal([
      'unknown_model model: "able" of openai ends on 2026-12-20',
    ]);
    expect(await faultsOf('able', plain, NOW_MS + 40 * day)).to.deep.equal([
      'unknown_model model: "able" of openai was to end on 2026-12-20',
    ]);
    expect(await faultsOf('able', plain, NOW_MS - 30 * day)).to.deep.equal([]);
    expect(await faultsOf('able', plain)).to.deep.equal([]);
    expect(await faultsOf('ended', plain, NOW_MS)).to.deep.equal([
      'unknown_model model: "ended" of openai is said to be gone',
    ]);
  });

  it('says nothing of what a server at an own address has', async () => {
    const beyond = 'capabilities: [chat, tools], limits: { max_tokens: 10001 }';
    const own = ', base_url: "http://127.0.0.1:9000/v1"';
    expect(await faultsOf('able', beyond, NOW_MS, own)).to.deep.equal([]);
  });
});
