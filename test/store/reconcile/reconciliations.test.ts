import { expect } from 'chai';
import { FLAGS } from '../../../src/core/request-record.js';
import { recordAt } from '../requests/helpers.js';
import { chargeOf, dollars, onEachStore } from '../helpers/ground.js';

const DAY_MS = 86_400_000;
const DAY = '2026-10-14';
const START_MS = Date.parse(DAY);
const RANGE = { from_ms: START_MS, to_ms: START_MS + DAY_MS, providers: ['openai'] };
const UPSTREAM = { provider: 'openai', model: 'mini', upstream_model: 'gpt-4o-mini-2024-07-18' };

onEachStore('what the bills of upstreams are compared with', (ground) => {
  it('has the costs of all accounts by day and upstream, also what could not be paid', async () => {
    const store = await ground.open();
    const ann = await store.createAccount('ann', dollars(1));
    const ben = await store.createAccount('ben', dollars(0));
    const charge = (at_ms: number, account_id: string, more: object) => {
      ground.now_ms = at_ms;
      const id = `request-${at_ms}`;
      return store.charge(chargeOf(id, account_id, 30n, { ...UPSTREAM, ...more }));
    };
    await charge(START_MS - 1, ann.id, {});
    await charge(START_MS, ann.id, { cached_tokens: 4 });
    await charge(START_MS + 1, ben.id, { cached_tokens: 2, upstream_cost_nano: 20n });
    await charge(START_MS + 2, ben.id, { estimated: true });
    await charge(START_MS + 3, ann.id, { provider: 'spare' });
    await charge(START_MS + DAY_MS, ann.id, {});
    await store.refund({ request_id: `request-${START_MS}` });
    // So far apart that they are read by several statements, and not in the order of time.
    await ground.place.sql(`update ledger set id = id + 9000 where created_ms <= ${START_MS + 1}`);

    const nothing = {
      cached_tokens: 0,
      cache_write_tokens: 0,
      cache_write_1h_tokens: 0,
      audio_input_tokens: 0,
      image_input_tokens: 0,
      audio_output_tokens: 0,
      image_output_tokens: 0,
      reasoning_tokens: 0,
    };
    const charged = await store.reconciliations.charged(RANGE);
    expect(charged.toSorted((a, b) => b.calls - a.calls)).to.deep.equal([
      {
        day: DAY,
        ...UPSTREAM,
        estimated: false,
        calls: 2,
        cost_nano: 50n,
        prompt_tokens: 18,
        completion_tokens: 10,
        ...nothing,
        cached_tokens: 6,
      },
      {
        day: DAY,
        ...UPSTREAM,
        estimated: true,
        calls: 1,
        cost_nano: 30n,
        prompt_tokens: 9,
        completion_tokens: 5,
        ...nothing,
      },
    ]);
  });

  it('counts the calls that failed, were cut, or whose client left', async () => {
    const store = await ground.open();
    const record = (at_ms: number, more: object) => recordAt(at_ms, { ...UPSTREAM, ...more });
    await store.requests.add([
      record(START_MS - 1, { flags: FLAGS.client_left }),
      record(START_MS, {}),
      record(START_MS + 1, { flags: FLAGS.client_left }),
      record(START_MS + 2, { flags: FLAGS.cut | FLAGS.estimated, code: 'upstream_error' }),
      record(START_MS + 3, { code: 'upstream_error', status: 502 }),
      record(START_MS + 4, { flags: FLAGS.cut, provider: 'spare' }),
      record(START_MS + DAY_MS, { flags: FLAGS.cut }),
    ]);
    expect(await store.reconciliations.aborted(RANGE)).to.deep.equal([
      { day: DAY, ...UPSTREAM, calls: 3 },
    ]);
  });

  it('keeps the last report of each provider, and of 20 at most', async () => {
    const store = await ground.open();
    for (let at = 0; at < 25; at += 1) {
      ground.now_ms += 1;
      await store.reconciliations.keep([`provider-${at}`], `report ${at}`);
    }
    ground.now_ms += 1;
    await store.reconciliations.keep(['provider-7'], 'again');
    const kept = await store.reconciliations.kept();
    expect(kept).to.have.length(20);
    expect(kept.slice(0, 2).map(({ report }) => report)).to.deep.equal(['again', 'report 24']);
    expect(kept[0]?.made_ms).to.equal(ground.now_ms);
  });
});
