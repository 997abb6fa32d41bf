import { expect } from 'chai';
import { chatJson, type Step } from '../helpers/upstream.js';
import {
  HELLO,
  scriptedGateways,
  onlyCharge,
  type ScriptedGatewayOptions,
  type Script,
} from './helpers/scripted-gateway.js';

const CHEAP = '{ provider: cheap, price: { input_per_million: 0.01, output_per_million: 0.02 } }';
const DEAR = '{ provider: dear, price: { input_per_million: 1, output_per_million: 2 } }';

describe('the price of a chat answer', () => {
  const gateway = scriptedGateways();
  const failing: Step = { status: 500 };

  interface Row {
    name: string;
    scripts: Record<string, Script>;
    options: ScriptedGatewayOptions;
    provider: string;
    cost_nano: bigint;
  }
  /** All answers used 9 tokens for the prompt and 5 for the answer. */
  const ROWS: Row[] = [
    {
      name: 'is the model’s',
      scripts: { up: chatJson('Hello') },
      options: {},
      provider: 'up',
      cost_nano: 9n * 150n + 5n * 600n,
    },
    {
      name: 'is that of the upstream entry where it has one',
      scripts: { cheap: chatJson('Hello') },
      options: { upstreams: CHEAP },
      provider: 'cheap',
      cost_nano: 9n * 10n + 5n * 20n,
    },
    {
      name: 'is that of the upstream that answered, after a fallback to a cheaper one',
      scripts: { dear: failing, cheap: chatJson('Hello') },
      options: { upstreams: `${DEAR}, ${CHEAP}` },
      provider: 'cheap',
      cost_nano: 190n,
    },
    {
      name: 'is that of the upstream that answered, after a fallback to a dearer one',
      scripts: { cheap: failing, dear: chatJson('Hello') },
      options: { upstreams: `${CHEAP}, ${DEAR}` },
      provider: 'dear',
      cost_nano: 9n * 1_000n + 5n * 2_000n,
    },
    {
      name: 'is rounded once, up to the next nano-dollar',
      scripts: { up: chatJson('Hello') },
      options: { price: '{ input_per_million: 0.000000001, output_per_million: 0.000000001 }' },
      provider: 'up',
      cost_nano: 1n,
    },
    {
      name: 'keeps every digit of the file',
      scripts: { up: chatJson('Hello') },
      options: { price: '{ input_per_million: 0.123456789, output_per_million: 33333.333333333 }' },
      provider: 'up',
      // 9 × 123.456789 + 5 × 33333333.333333 = 166667777.777776 up to whole ones.
      cost_nano: 166_667_778n,
    },
    {
      name: 'loses nothing to a float where it is large',
      scripts: {
        up: chatJson('Hello', { usage: { prompt_tokens: 85, completion_tokens: 99 } }),
      },
      options: {
        credit: '1000000',
        price: '{ input_per_million: 0.000000001, output_per_million: 90000000.000000001 }',
      },
      provider: 'up',
      cost_nano: 99n * 90_000_000_000n + 1n,
    },
  ];
  for (const { name, scripts, options, provider, cost_nano } of ROWS) {
    it(name, async () => {
      const built = await gateway(scripts, options);
      expect((await built.post(HELLO)).status).to.equal(200);
      const charge = await onlyCharge(built);
      expect(charge.amount_nano).to.equal(-cost_nano);
      expect(charge).to.include({ provider, estimated: false });
    });
  }

  it('is held at the dearest upstream that may be tried', async () => {
    const scripts = { cheap: chatJson('Hello'), dear: chatJson('Hello') };
    const upstreams = `${CHEAP}, ${DEAR}`;
    const enough = await gateway(scripts, { upstreams, credit: '0.000285' });
    const short = await gateway(scripts, { upstreams, credit: '0.000284999' });
    expect((await enough.post(HELLO)).status).to.equal(200);
    expect((await short.post(HELLO)).status).to.equal(402);
    expect(short.upstream.requests).to.deep.equal([]);
  });

  it('is held for every completion that is asked for', async () => {
    const built = await gateway(chatJson('Hello'), { credit: '0.000132749' });
    // 85 × 150 + 2 × 100 × 600 nano-dollars is one more than there is.
    expect((await built.post({ ...HELLO, n: 2 })).status).to.equal(402);
    expect((await built.post({ ...HELLO, n: 1 })).status).to.equal(200);
  });

  it('is the limit that is sent with the call where the client sets none', async () => {
    const built = await gateway(chatJson('Hello'));
    await built.post(HELLO);
    await built.post({ ...HELLO, max_tokens: 7 });
    const sent = built.upstream.requests.map(({ json }) => json as { max_tokens: number });
    expect(sent.map(({ max_tokens }) => max_tokens)).to.deep.equal([100, 7]);
  });
});

describe('a free model', () => {
  const gateway = scriptedGateways();

  for (const stream of [false, true]) {
    it(`answers an account with no balance ${stream ? 'in a stream' : 'in JSON'}`, async () => {
      const built = await gateway(chatJson('Hello'), { credit: '0', price: 'free' });
      const response = await built.post({ ...HELLO, stream });
      expect(response.status).to.equal(200);
      expect(await response.text()).to.include('Hello');
      await built.settled();
      expect(await built.charges()).to.deep.equal([]);
    });
  }

  it('is held for where one of its upstreams is not free', async () => {
    const upstreams = '{ provider: gift, price: free }, { provider: dear }';
    const scripts = { gift: chatJson('Hello'), dear: chatJson('Hello') };
    const poor = await gateway(scripts, { upstreams, credit: '0' });
    expect((await poor.post(HELLO)).status).to.equal(402);
  });

  it('charges nothing where a free upstream answers', async () => {
    const upstreams = '{ provider: gift, price: free }, { provider: dear }';
    const built = await gateway(
      { gift: chatJson('Hello'), dear: chatJson('Hello') },
      { upstreams },
    );
    expect((await built.post(HELLO)).status).to.equal(200);
    await built.settled();
    const amounts = (await built.charges()).map(({ amount_nano }) => amount_nano);
    expect(amounts.every((amount) => amount === 0n)).to.equal(true);
  });
});
