import { expect } from 'chai';
import { recordAt, rollUp } from '../requests/helpers.js';
import { chargeOf, dollars, onEachStore } from '../helpers/ground.js';

const DAY_MS = 86_400_000;

onEachStore('the spend of keys', (ground) => {
  it('is that of the ledger by day, less what was refunded, for each key by itself', async () => {
    const store = await ground.open();
    const { id: account_id } = await store.createAccount('ann', dollars(100));
    const { id: other_id } = await store.createAccount('bob', dollars(100));
    const start_ms = ground.now_ms - (ground.now_ms % DAY_MS);
    const keys = ['laptop', 'server'];
    const spent = new Map<string, bigint>();
    for (let at = 0; at < 24; at += 1) {
      const key_id = keys[at % 2] ?? '';
      const cost_nano = BigInt(at + 1);
      ground.now_ms = start_ms + (at - 12) * 3 * 3_600_000;
      const account = at % 6 === 5 ? other_id : account_id;
      const record = recordAt(ground.now_ms, { account_id: account, key_id, cost_nano });
      await store.charge(chargeOf(record.id, account, cost_nano, { key_id }), undefined, record);
      const isCounted = account === account_id && ground.now_ms >= start_ms;
      const refunded_nano = at % 4 === 1 ? 1n : 0n;
      if (refunded_nano > 0n) {
        await store.refund({ request_id: record.id, amount_nano: refunded_nano });
      }
      if (!isCounted) continue;
      spent.set(key_id, (spent.get(key_id) ?? 0n) + cost_nano - refunded_nano);
    }
    await rollUp(ground, store);
    const range = { from_ms: start_ms, to_ms: start_ms + 2 * DAY_MS };
    const found = await store.spend(account_id, range);
    expect([...found]).to.have.deep.members([...spent]);
    const byKey = new Map<string | null, bigint>();
    for (const { key_id, cost_nano } of await store.usage(account_id, range)) {
      byKey.set(key_id, (byKey.get(key_id) ?? 0n) + cost_nano);
    }
    expect([...byKey]).to.have.deep.members([...spent]);
    expect([...(await store.spend('acc_nobody', range))]).to.deep.equal([]);
  });
});
