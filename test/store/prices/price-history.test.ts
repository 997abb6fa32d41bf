import { expect } from 'chai';
import type { Price } from '../../../src/core/model.js';
import { onEachStore } from '../helpers/ground.js';

const UPSTREAM = { model: 'gpt', provider: 'openai', upstream_model: 'gpt-4o' };

function price(input: bigint, rest: Partial<Price> = {}): Price {
  return {
    free: false,
    input_nano_per_million: input,
    output_nano_per_million: 2n * input,
    ...rest,
  };
}

onEachStore('the history of prices', (ground) => {
  it('knows what an upstream cost at a time, the likeliest price first', async () => {
    const store = await ground.open();
    const start_ms = ground.now_ms;
    const long_prompt = { above_tokens: 200_000, output_nano_per_million: 40n };
    const cached = { cached_input_nano_per_million: 5n, long_prompt };
    for (const one of [price(10n, cached), price(10n, cached), price(20n), price(30n)]) {
      await store.prices.note([{ ...UPSTREAM, price: one }]);
      ground.now_ms += 1_000;
    }
    const about = async (ms: number): Promise<bigint[]> =>
      (await store.prices.about(UPSTREAM, start_ms + ms)).map((one) => one.input_nano_per_million);
    expect(await about(-1)).to.deep.equal([10n]);
    expect(await about(1_999)).to.deep.equal([10n, 20n]);
    expect(await about(2_000)).to.deep.equal([20n, 10n, 30n]);
    expect(await about(99_000)).to.deep.equal([30n, 20n]);
    const [first] = await store.prices.about(UPSTREAM, start_ms);
    expect(first).to.deep.equal(price(10n, cached));
  });

  it('keeps tiers, hours, tools and fees, by which an old charge was made', async () => {
    const store = await ground.open();
    const long_prompt = { above_tokens: 9, input_nano_per_million: 7n };
    const whole = price(10n, {
      cache_write_1h_nano_per_million: 3n,
      tiers: new Map([['flex', { input_nano_per_million: 5n, long_prompt }]]),
      off_peak: [
        {
          days: ['sat', 'sun'],
          from_minute: 0,
          to_minute: 1_440,
          zone: 'UTC',
          output_nano_per_million: 3n,
        },
        { from_minute: 990, to_minute: 30, zone: 'UTC', output_nano_per_million: 4n },
      ],
      per_tool_call: new Map([['web_search', 10n]]),
      per_request: 1n,
    });
    await store.prices.note([{ ...UPSTREAM, price: whole }]);
    expect(await store.prices.about(UPSTREAM, ground.now_ms)).to.deep.equal([whole]);
  });

  it('tells upstreams apart, and knows nothing of others', async () => {
    const store = await ground.open();
    const other = { ...UPSTREAM, upstream_model: 'gpt-5' };
    await store.prices.note([
      { ...UPSTREAM, price: price(10n) },
      { ...other, price: price(20n) },
      { ...other, price: price(20n) },
    ]);
    expect(await store.prices.about(other, ground.now_ms)).to.deep.equal([price(20n)]);
    const unknown = { ...UPSTREAM, model: 'none\u0000' };
    expect(await store.prices.about(unknown, ground.now_ms)).to.deep.equal([]);
  });

  it('takes the same prices from two processes at once', async () => {
    const stores = [await ground.open(), await ground.open()];
    await Promise.all(stores.map((one) => one.prices.note([{ ...UPSTREAM, price: price(10n) }])));
    expect(await stores[0]?.prices.about(UPSTREAM, ground.now_ms)).to.deep.equal([price(10n)]);
  });
});
