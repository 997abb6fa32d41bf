import { expect } from 'chai';
import { NOTHING_USED } from '../../../src/store/ledger/usage.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore, refusal } from '../helpers/ground.js';
import { rollUp } from '../requests/helpers.js';

const DAY_MS = 86_400_000;
const MIDNIGHT = Date.UTC(2027, 0, 15);

onEachStore('usage from the ledger', (ground) => {
  async function charged(store: Store, account_id: string, at_ms: number, rest: object) {
    ground.now_ms = at_ms;
    await store.charge({ ...chargeOf(`r${Math.random()}`, account_id, 7n), ...rest });
  }

  it('adds up by day, model and key', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const ben = await store.createAccount('ben', dollars(1));
    const usage = (used: object) => ({ usage: JSON.stringify(used) });
    await charged(store, id, MIDNIGHT - 1, {});
    await charged(store, id, MIDNIGHT, {});
    await charged(store, id, MIDNIGHT + DAY_MS - 1, { cost_nano: 5n });
    await charged(store, id, MIDNIGHT, { key_id: 'key_2' });
    const picture = { prompt_tokens: 2, completion_tokens: 0, images: 3 };
    await charged(store, id, MIDNIGHT, { model: 'flux', ...usage(picture) });
    const film = { video_seconds: 8, video_resolution: '720p' };
    await charged(store, id, MIDNIGHT, { model: 'veo', ...usage(film) });
    await charged(store, ben.id, MIDNIGHT, {});

    const { calls: _, ...nothing } = NOTHING_USED;
    const chat = { model: 'gpt-4o-mini', key_id: 'key_1', agent: null, calls: 1 };
    const tokens = { ...nothing, prompt_tokens: 9, completion_tokens: 5 };
    const day = '2027-01-15';
    expect(await store.usage(id, { from_ms: 0, to_ms: 1 })).to.deep.equal([]);
    const range = { from_ms: MIDNIGHT - DAY_MS, to_ms: MIDNIGHT + DAY_MS };
    expect(await store.usage(id, range)).to.deep.equal([
      { day: '2027-01-14', ...chat, ...tokens, cost_nano: 7n },
      { day, ...chat, model: 'flux', ...nothing, ...picture, cost_nano: 7n },
      {
        day,
        ...chat,
        ...nothing,
        calls: 2,
        prompt_tokens: 18,
        completion_tokens: 10,
        cost_nano: 12n,
      },
      { day, ...chat, ...tokens, key_id: 'key_2', cost_nano: 7n },
      { day, ...chat, model: 'veo', ...nothing, video_seconds: 8, cost_nano: 7n },
    ]);
    expect(await store.usage(id, { from_ms: MIDNIGHT, to_ms: MIDNIGHT + 1 })).to.have.length(4);
  });

  it('adds up the classes of tokens, also beside charges that do not name them', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const cached = { cached_tokens: 4, cache_write_tokens: 3 };
    await charged(store, id, MIDNIGHT, cached);
    await charged(store, id, MIDNIGHT, { ...cached, audio_input_tokens: 2, reasoning_tokens: 1 });
    await charged(store, id, MIDNIGHT, { audio_output_tokens: 5, image_input_tokens: 3 });
    await charged(store, id, MIDNIGHT, { image_output_tokens: 8 });
    await charged(store, id, MIDNIGHT, {});
    const [row] = await store.usage(id, { from_ms: MIDNIGHT, to_ms: MIDNIGHT + 1 });
    expect(row).to.deep.include({
      calls: 5,
      prompt_tokens: 45,
      cached_tokens: 8,
      cache_write_tokens: 6,
      audio_input_tokens: 2,
      image_input_tokens: 3,
      audio_output_tokens: 5,
      image_output_tokens: 8,
      reasoning_tokens: 1,
      cost_nano: 35n,
    });
  });

  it('adds up what upstreams took and the profit, and counts what is not known as neither', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const range = { from_ms: MIDNIGHT, to_ms: MIDNIGHT + 1 };
    const figures = async () => {
      const [row] = await store.usage(id, range);
      return row && [row.cost_nano, row.upstream_cost_nano, row.profit_nano];
    };
    await charged(store, id, MIDNIGHT, { request_id: 'old', cost_nano: 100n });
    expect(await figures()).to.deep.equal([100n, 0n, 0n]);
    await charged(store, id, MIDNIGHT, {
      request_id: 'sold',
      cost_nano: 110n,
      upstream_cost_nano: 80n,
    });
    await charged(store, id, MIDNIGHT, { cost_nano: 5n, upstream_cost_nano: 9n });
    expect(await figures()).to.deep.equal([215n, 89n, 26n]);
    await store.refund({ request_id: 'sold', amount_nano: 50n });
    await store.refund({ request_id: 'old', amount_nano: 40n });
    expect(await figures()).to.deep.equal([125n, 89n, -24n]);
    const refunds = (await store.ledger(id, { limit: 9 })).slice(-2);
    expect(refunds.map(({ cost_nano }) => cost_nano)).to.deep.equal([0n, null]);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('tells agents apart, and adds up what their caches saved and lost, beyond 64 bits', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const most = 2n ** 62n;
    const codex = { agent: 'codex', cost_nano: 2n };
    await charged(store, id, MIDNIGHT, { request_id: 'r1', ...codex, saved_nano: -most });
    for (const lost_nano of [most, most, 1n]) {
      await charged(store, id, MIDNIGHT, { ...codex, saved_nano: most, lost_nano });
    }
    await charged(store, id, MIDNIGHT, { cost_nano: 3n });
    await store.refund({ request_id: 'r1' });
    const rows = await store.usage(id, { from_ms: MIDNIGHT, to_ms: MIDNIGHT + 1 });
    expect(
      rows.map(({ agent, calls, cost_nano, saved_nano, lost_nano }) => {
        return { agent, calls, cost_nano, saved_nano, lost_nano };
      }),
    ).to.deep.equal([
      { agent: null, calls: 1, cost_nano: 3n, saved_nano: 0n, lost_nano: 0n },
      { agent: 'codex', calls: 4, cost_nano: 6n, saved_nano: 2n * most, lost_nano: 2n * most + 1n },
    ]);
  });

  it('adds up many slices of entries, in which all have the same time', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    for (let at = 0; at < 12_345; at += 1_000) {
      const rows = Array.from({ length: Math.min(1_000, 12_345 - at) }, (_, one) => {
        const time = MIDNIGHT + (at + one < 6_000 ? 0 : DAY_MS);
        return `('${id}', 'charge', 'r${at + one}', -2000000001, 'k', 'm', 'p',
          '{"prompt_tokens":2}', false, ${time})`;
      });
      await ground.place.sql(`insert into ledger (account_id, kind, reference, amount_nano, key_id,
        model, provider, usage, estimated, created_ms) values ${rows.join(',')}`);
    }
    const rows = await store.usage(id, { from_ms: MIDNIGHT, to_ms: MIDNIGHT + 2 * DAY_MS });
    const told = rows.map(({ calls, prompt_tokens, cost_nano }) => [
      calls,
      prompt_tokens,
      cost_nano,
    ]);
    expect(told).to.deep.equal([
      [6_000, 12_000, 6_000n * 2_000_000_001n],
      [6_345, 12_690, 6_345n * 2_000_000_001n],
    ]);
  });

  it('is the same before, while and after the entries are added to the days', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(9_000_000_000));
    const ben = await store.createAccount('ben', dollars(1));
    const most = 2n ** 62n;
    const kinds = [
      {},
      { agent: 'codex', key_id: 'key_2', saved_nano: -most, lost_nano: 5n },
      { agent: 'codex', key_id: 'key_2', saved_nano: most, upstream_cost_nano: 3n },
      { model: 'flux', usage: '{"images":2,"video_seconds":0.5}', cached_tokens: 4 },
      { cost_nano: 2_000_000_001n },
    ];
    const range = { from_ms: MIDNIGHT, to_ms: MIDNIGHT + 2 * DAY_MS };
    const seen: unknown[] = [];
    const usageBySome = () => {
      const splits = [['day_ms'], ['model'], ['key_id', 'model']] as const;
      return Promise.all(splits.map((split) => store.usage(id, range, split)));
    };
    for (let at = 0; at < 2; at += 1) {
      for (const day of [0, 1, 2]) {
        for (const kind of at === 0 ? kinds : kinds.slice(0, 4)) {
          await charged(store, id, MIDNIGHT + day * DAY_MS, kind);
        }
        await charged(store, ben.id, MIDNIGHT, {});
      }
      ground.now_ms = MIDNIGHT + 5;
      const request_id = (await store.ledger(id, { limit: 99 })).at(-1)?.reference ?? '';
      await store.refund({ request_id, amount_nano: 2n });
      seen.push(await store.usage(id, range));
      const split = await usageBySome();
      await rollUp(ground, store);
      expect(await store.usage(id, range)).to.deep.equal(seen.at(-1));
      expect(await usageBySome()).to.deep.equal(split);
      expect(split.map((rows) => rows.length)).to.deep.equal([2, 2, 3]);
      expect(await store.verify()).to.deep.include({ faults: [] });
    }
    const [first, second] = seen as [{ calls: number }[], { calls: number }[]];
    expect(first.map(({ calls }) => calls)).to.deep.equal([1, 2, 2, 1, 2, 2]);
    expect(second.map(({ calls }) => calls)).to.deep.equal([2, 3, 4, 2, 3, 4]);
  });

  it('subtracts a refund from the cost, and counts no call for it', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    await charged(store, id, MIDNIGHT, {});
    await ground.place.sql(`insert into ledger (account_id, kind, reference, amount_nano, key_id,
      model, estimated, created_ms) select account_id, 'refund', reference, 3, key_id, model,
      false, created_ms from ledger where kind = 'charge'`);
    const [row] = await store.usage(id, { from_ms: MIDNIGHT, to_ms: MIDNIGHT + 1 });
    expect(row).to.deep.include({ calls: 1, prompt_tokens: 9, cost_nano: 4n });
  });

  it('does not fail over absurd figures', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 3n * 2n ** 61n);
    const most = JSON.stringify({ prompt_tokens: Number.MAX_SAFE_INTEGER, images: 0.5 });
    for (let at = 0; at < 3; at++) {
      await charged(store, id, MIDNIGHT, { cost_nano: 2n ** 61n, usage: most });
    }
    const [row] = await store.usage(id, { from_ms: MIDNIGHT, to_ms: MIDNIGHT + 1 });
    expect(row).to.deep.include({ images: 1.5, cost_nano: 3n * 2n ** 61n });
  });

  it('is refused for more than 366 days at once', async () => {
    const store = await ground.open();
    const range = { from_ms: 0, to_ms: 366 * DAY_MS };
    expect(await store.usage('acc_none', range)).to.deep.equal([]);
    expect(await refusal(store.usage('acc_none', { ...range, to_ms: range.to_ms + 1 }))).to.match(
      /at most 366 days/,
    );
  });
});
