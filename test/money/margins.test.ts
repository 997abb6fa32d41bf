import { expect } from 'chai';
import fc from 'fast-check';
import { PROFIT_SPLITS, showProfit } from '../../src/actions/profit-show.js';
import { showUsage } from '../../src/actions/usage-show.js';
import type { ActionCaller } from '../../src/actions/action.js';
import { parseDollars } from '../../src/lib/money.js';
import type { LedgerEntry } from '../../src/store/ledger/ledger-columns.js';
import { ask, type Answer } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { chatJson, chatSse, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { onEachStore } from '../store/helpers/ground.js';
import { expectSame, repeat } from './helpers/idempotent-request.js';
import { ready } from './helpers/scripted-gateway.js';

const SELL = 'owner: acme, upstreams: [{ provider: simulator }]';
const BY_TOKENS = '{ input_per_million: 4, output_per_million: 8 }';
const MODELS = `
  gpt-4o-mini: { owner: acme, capabilities: [chat], upstreams: [{ provider: up }] }
  own: { ${SELL}, capabilities: [chat], price: ${BY_TOKENS} }
  vectors: { ${SELL}, capabilities: [embedding], price: { input_per_million: 4 } }
  verdicts: { ${SELL}, capabilities: [moderation], price: { input_per_million: 4 } }
  painter: { ${SELL}, capabilities: [image], price: { per_image: 0.04 } }
  voice: { ${SELL}, capabilities: [speech], price: { per_million_characters: 16 } }
  film: { ${SELL}, capabilities: [video], price: { per_video_second: 0.40 } }
  gift: { ${SELL}, capabilities: [chat], price: free }
`;
const WORDS = ['one', 'two', 'three', 'four', 'five'];
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const VIDEO = { prompt: 'dawn' };

/** Calls of every kind of work, each with the cost of an amount that the account pays. */
const three_quarters = (paid: bigint): bigint => (paid * 3n) / 4n;
/** The list price of nine tokens and five, in nano-dollars: it is sold for a tenth more. */
const LIST = 9n * 150n + 5n * 600n;
const at_list = (paid: bigint): bigint => (paid * 8n) / 11n;
const CALLS: Record<string, { path: string; body: object; cost: (paid: bigint) => bigint }> = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', messages: MESSAGES },
    cost: at_list,
  },
  stream: {
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', messages: MESSAGES, stream: true },
    cost: at_list,
  },
  own: {
    path: '/v1/chat/completions',
    body: { model: 'own', messages: MESSAGES },
    cost: three_quarters,
  },
  vectors: {
    path: '/v1/embeddings',
    body: { model: 'vectors', input: 'toll' },
    cost: three_quarters,
  },
  verdicts: {
    path: '/v1/moderations',
    body: { model: 'verdicts', input: 'toll' },
    cost: three_quarters,
  },
  painter: {
    path: '/v1/images/generations',
    body: { model: 'painter', prompt: 'dawn', n: 2 },
    cost: three_quarters,
  },
  voice: {
    path: '/v1/audio/speech',
    body: { model: 'voice', input: 'Hello', voice: 'alloy' },
    cost: three_quarters,
  },
};

const OPERATOR: ActionCaller = {
  actor: { kind: 'cli', id: 'test', name: 'test', request_id: null },
  is_operator: true,
};

onEachStore('what upstreams take of what accounts pay', (ground) => {
  let up: FakeUpstream;
  let gateway: TestGateway;
  /** The tokens of the prompt that `up` reports. */
  let prompt_tokens: number;

  beforeEach(async () => {
    prompt_tokens = 9;
    up = await startUpstream(({ json }, response) => {
      const { stream } = json as { stream?: boolean };
      const usage = { prompt_tokens, completion_tokens: 5 };
      return play(stream ? chatSse(WORDS, prompt_tokens) : chatJson('one', { usage }), response);
    });
    ground.now_ms = Date.now();
    gateway = await startGateway(
      `owners: { acme: { name: Acme } }
providers:
  up: { uses: openai, base_url: '${up.url}', api_key: k, price: { list: +10% }, discount: 20% }
  simulator: { discount: 25%, settings: { video_takes: 0s } }
models:${MODELS}`,
      { store: ground.place.url, credit: '100' },
    );
  });

  afterEach(async () => {
    expect((await gateway.gateway.store.verify()).faults).to.deep.equal([]);
    await gateway.close();
    await up.close();
  });

  const post = async (path: string, body: object): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await ask(gateway, path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect(answer.status, answer.text).to.be.oneOf([200, 202]);
    return answer;
  };

  const charges = async (): Promise<LedgerEntry[]> => {
    const rows = await gateway.gateway.store.ledger(gateway.account.id, { limit: 1_000 });
    return rows.filter(({ kind }) => kind !== 'credit');
  };

  /** The sums of the ledger, of usage, of its file and of the totals, which are before refunds. */
  async function expectEqualSums(): Promise<void> {
    const { store } = gateway.gateway;
    const rows = await charges();
    const sum = (of: (entry: LedgerEntry) => bigint): bigint =>
      rows.reduce((all, entry) => all + of(entry), 0n);
    const paid_nano = -sum(({ amount_nano }) => amount_nano);
    const cost_nano = sum((entry) => entry.cost_nano ?? 0n);
    for (const by of ['day', 'model', 'key', 'agent'] as const) {
      const services = { store, now: Date.now, publicUrl: () => '' };
      const input = { account_id: gateway.account.id, by };
      const result = await showUsage.run(services, input, OPERATOR);
      const { totals, groups } = result.usage;
      const figures = [totals.cost_nano, totals.upstream_cost_nano, totals.profit_nano];
      expect(figures).to.deep.equal([paid_nano, cost_nano, paid_nano - cost_nano]);
      const profits = groups.reduce((all, { profit_nano }) => all + profit_nano, 0n);
      expect(profits).to.equal(paid_nano - cost_nano);
      const { text = '' } = showUsage.csv?.(result, { ...input, format: 'csv' }, OPERATOR) ?? {};
      const [head = '', ...lines] = text.trimEnd().split('\r\n');
      const at = head.split(',').indexOf('profit');
      const inFile = lines.map((line) => parseDollars(line.split(',').at(at) ?? ''));
      expect(inFile.reduce((all, nano) => all + nano, 0n)).to.equal(paid_nano - cost_nano);
      const mine = { actor: OPERATOR.actor, account_id: gateway.account.id, is_operator: false };
      expect(JSON.stringify(showUsage.answer?.(result, mine))).not.to.include('profit');
    }
    const refunds = rows.filter(({ kind }) => kind === 'refund');
    const refunded_nano = refunds.reduce((all, { amount_nano }) => all + amount_nano, 0n);
    const days = {
      from_ms: Date.now() - 86_400_000,
      to_ms: Date.now() + 1,
      period: 'day',
    } as const;
    let seen: unknown;
    await until(async () => {
      await store.requests.rollUp();
      const [row] = await store.requests.totals({ ...days, by: [] });
      seen = row && [row.cost_nano, row.upstream_cost_nano, row.profit_nano];
      return row?.cost_nano === paid_nano + refunded_nano;
    }, 'the totals of all calls');
    const profit_nano = paid_nano + refunded_nano - cost_nano;
    expect(seen).to.deep.equal([paid_nano + refunded_nano, cost_nano, profit_nano]);
    for (const by of PROFIT_SPLITS) {
      const services = { store, now: Date.now, publicUrl: () => '' };
      const { totals } = await showProfit.run(services, { by }, OPERATOR);
      expect([totals.cost_nano, totals.upstream_cost_nano, totals.profit_nano]).to.deep.equal(seen);
    }
  }

  it('is kept beside each charge, of any work, and told to the client in no header', async () => {
    for (const [name, { path, body, cost }] of Object.entries(CALLS)) {
      const { headers } = await post(path, body);
      const [entry] = (await charges()).slice(-1);
      const paid_nano = -(entry?.amount_nano ?? 0n);
      expect(paid_nano > 0n, name).to.equal(true);
      expect(entry?.cost_nano, name).to.equal(cost(paid_nano));
      const told = headers.get('tollgate-cost');
      if (name === 'stream') expect(told).to.equal(null);
      else if (told !== null) expect(parseDollars(told), name).to.equal(paid_nano);
    }
    expect((await charges())[0]?.amount_nano).to.equal(-((LIST * 11n) / 10n));
  });

  it('is pinned to a video task with its price, and taken once', async () => {
    const { text } = await post('/v1/queue/film', VIDEO);
    const { request_id } = JSON.parse(text) as { request_id: string };
    const path = `/v1/queue/film/requests/${request_id}`;
    await until(async () => {
      const { text: status } = await ask(gateway, `${path}/status`);
      return status.includes('COMPLETED');
    }, 'the video');
    const answers = [await ask(gateway, path), await ask(gateway, path)];
    const told = answers.map(({ headers }) => headers.get('tollgate-cost'));
    expect(told).to.deep.equal(['3.20', '0.00']);
    const rows = await charges();
    expect(rows.map(({ amount_nano, cost_nano }) => [amount_nano, cost_nano])).to.deep.equal([
      [-3_200_000_000n, 2_400_000_000n],
    ]);
    await expectEqualSums();
  });

  /** What is due for such a call, and what it costs: the list price is sold for a tenth more. */
  const dueAndCost = (): [bigint, bigint] => {
    const list = BigInt(prompt_tokens) * 150n + 5n * 600n;
    return [(list * 11n) / 10n, (list * 4n) / 5n];
  };

  /** The same of each charge of the account. */
  const duesAndCosts = async (): Promise<unknown[]> =>
    (await charges()).map(({ amount_nano, uncollected_nano, cost_nano }) => [
      uncollected_nano - amount_nano,
      cost_nano,
    ]);

  /** Makes the calls while the store takes no charge, and waits until it has them all. */
  async function inOutage(calls: () => Promise<unknown>): Promise<void> {
    const { store } = gateway.gateway;
    const charge = store.charge.bind(store);
    store.charge = () => Promise.reject(new Error('The disk is full.'));
    await calls();
    expect(await charges(), 'in the journal').to.deep.equal([]);
    store.charge = charge;
    await ready(gateway);
  }

  /** From now on the calls are those of an account that has a tenth of a thousandth dollar. */
  async function impoverish(): Promise<void> {
    const { store } = gateway.gateway;
    const account = await store.createAccount('poor', parseDollars('0.0001'));
    const { secret } = await store.createKey(account.id, 'test', {});
    Object.assign(gateway, { account, secret });
  }

  const SHORT = { model: 'gpt-4o-mini', messages: MESSAGES, max_tokens: 10 };

  for (const stream of [false, true]) {
    const body = { ...SHORT, stream };
    const kind = stream ? 'a stream' : 'an answer';

    it(`waits in the journal with the charge of ${kind}, and is entered with it`, async () => {
      await inOutage(() => post('/v1/chat/completions', body));
      expect(await duesAndCosts()).to.deep.equal([dueAndCost()]);
      await expectEqualSums();
    });

    it(`is whole where the account cannot pay all of ${kind}`, async () => {
      await impoverish();
      prompt_tokens = 8_000;
      await post('/v1/chat/completions', body);
      expect(await duesAndCosts()).to.deep.equal([dueAndCost()]);
      expect((await charges())[0]?.amount_nano).to.equal(-100_000n);
      await expectEqualSums();
    });

    it(`is whole where ${kind} that the account cannot pay waited in the journal`, async () => {
      await impoverish();
      prompt_tokens = 8_000;
      await inOutage(() => post('/v1/chat/completions', body));
      expect(await duesAndCosts()).to.deep.equal([dueAndCost()]);
      expect((await charges())[0]?.amount_nano).to.equal(-100_000n);
      await expectEqualSums();
    });
  }

  it('is taken once where a call is repeated under its Idempotency-Key', async () => {
    const first = await repeat(gateway, 'again', SHORT);
    expectSame(await repeat(gateway, 'again', SHORT), first);
    expect(up.requests).to.have.length(1);
    expect(await duesAndCosts()).to.deep.equal([dueAndCost()]);
    await expectEqualSums();
  });

  it('is taken once where the call that is repeated waited in the journal', async () => {
    let first: Answer | undefined;
    await inOutage(async () => (first = await repeat(gateway, 'again', SHORT)));
    expectSame(await repeat(gateway, 'again', SHORT), first as Answer);
    expect(await duesAndCosts()).to.deep.equal([dueAndCost()]);
    await expectEqualSums();
  });

  it('is nothing for a free model, which writes no charge', async () => {
    await post('/v1/chat/completions', { model: 'gift', messages: MESSAGES });
    expect(await charges()).to.deep.equal([]);
    await expectEqualSums();
  });

  it('stays where a charge is refunded, and all sums of it are equal', async () => {
    const names = fc.array(fc.constantFrom(...Object.keys(CALLS)), { minLength: 1, maxLength: 6 });
    const runs = fc.asyncProperty(names, fc.nat(), async (calls, which) => {
      for (const name of calls) {
        const call = CALLS[name];
        if (call) await post(call.path, call.body);
      }
      const open = (await charges()).filter(({ kind }) => kind === 'charge');
      const charge = open[which % open.length];
      const { left_nano } = await gateway.gateway.store.refundable({
        request_id: charge?.reference ?? '',
      });
      if (left_nano > 1n) {
        const amount_nano = left_nano / 2n;
        await gateway.gateway.store.refund({ request_id: charge?.reference ?? '', amount_nano });
      }
      await expectEqualSums();
    });
    await fc.assert(runs, { numRuns: 4 });
  });
});
