import { expect } from 'chai';
import fc from 'fast-check';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore, refusal } from '../helpers/ground.js';

const BY = { kind: 'cli', id: 'ann', name: null, request_id: null } as const;

onEachStore('refunds', (ground) => {
  async function begin(): Promise<{ store: Store; id: string; key_id: string }> {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(10));
    const { key } = await store.createKey(id, 'pocket', { limit_nano: dollars(5) });
    await store.charge(chargeOf('r1', id, dollars(2), { key_id: key.id }));
    return { store, id, key_id: key.id };
  }

  const balanceOf = async (store: Store, id: string): Promise<bigint | undefined> =>
    (await store.account(id))?.balance_nano;

  it('reverse a charge as a whole, once, and give the key its limit back', async () => {
    const { store, id, key_id } = await begin();
    const entry = await store.refund({ request_id: 'r1' }, BY);
    expect(entry).to.deep.include({
      account_id: id,
      kind: 'refund',
      reference: 'r1',
      refund_of: 'r1',
      amount_nano: dollars(2),
      key_id,
      model: 'gpt-4o-mini',
      provider: 'openai',
      usage: null,
    });
    expect(await store.refund({ request_id: 'r1' }, BY)).to.deep.equal(entry);
    expect(await balanceOf(store, id)).to.equal(dollars(10));
    expect((await store.keys(id))[0]?.spent_nano).to.equal(0n);
    expect((await store.verify()).faults).to.deep.equal([]);
    const changes = (await store.audit.list({ limit: 9 })).filter(
      ({ action }) => action === 'account.refund',
    );
    expect(changes).to.have.length(1);
    expect(changes[0]).to.deep.include({
      actor: BY,
      subject: 'r1',
      account_id: id,
      before: { charged: '2.00' },
      after: { charged: '0.00', reference: 'r1' },
    });
  });

  it('take a part, then the rest, and never more than the charge', async () => {
    const { store, id } = await begin();
    const part = { request_id: 'r1', amount_nano: dollars(1) / 2n };
    const first = await store.refund(part);
    expect(await store.refund(part)).to.deep.equal(first);
    expect(await store.refundable({ request_id: 'r1' })).to.deep.include({
      left_nano: dollars(3) / 2n,
    });
    const more = store.refund({ request_id: 'r1', amount_nano: dollars(2) });
    expect(await refusal(more)).to.equal(
      'StoreError: The charge of the request r1 was 2.00 dollars, of which 1.50 can be refunded.',
    );
    await store.refund({ request_id: 'r1' });
    const again = store.refund({ request_id: 'r1', amount_nano: 1n, reference: 'again' });
    expect(await refusal(again)).to.match(/nothing is left to refund\.$/u);
    expect(await balanceOf(store, id)).to.equal(dollars(10));
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('refuse what they cannot do in one sentence', async () => {
    const { store, id } = await begin();
    const other = await store.createAccount('bob', 0n);
    await store.charge(chargeOf('r2', id, 5n));
    await store.refund({ request_id: 'r1', amount_nano: 1n, reference: 'complaint 1' });
    for (const [asked, sentence] of [
      [{ request_id: 'r9' }, 'NoCharge: There is no charge of the request "r9".'],
      [{ request_id: 'a\0b' }, 'NoCharge: There is no charge of the request "a\0b".'],
      [
        { request_id: 'r1', account_id: other.id },
        'NoCharge: There is no charge of the request "r1".',
      ],
      [{ request_id: 'r1', amount_nano: 0n }, 'StoreError: A refund must be above zero.'],
      [{ request_id: 'r1', amount_nano: -5n }, 'StoreError: A refund must be above zero.'],
      [
        { request_id: 'r2', reference: ' ' },
        'StoreError: A reference is text of one line, of 1 to 200 characters.',
      ],
      [
        { request_id: 'r2', reference: 'complaint 1' },
        'StoreError: The reference "complaint 1" was used already, for a refund of ' +
          '0.000000001 dollars of the request r1.',
      ],
      [
        { request_id: 'r1', amount_nano: 2n, reference: 'complaint 1' },
        'StoreError: The reference "complaint 1" was used already, for a refund of ' +
          '0.000000001 dollars of the request r1.',
      ],
    ] as const) {
      expect(await refusal(store.refund(asked))).to.equal(sentence);
    }
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('lower the usage of the day, and do not count as calls', async () => {
    const { store, id } = await begin();
    await store.refund({ request_id: 'r1', amount_nano: dollars(1) });
    const range = { from_ms: ground.now_ms - 1_000, to_ms: ground.now_ms + 1 };
    const [row] = await store.usage(id, range);
    expect(row).to.include({ calls: 1, prompt_tokens: 9, cost_nano: dollars(1) });
  });

  it('never give back more than a charge, whatever is asked at once', async () => {
    const stores = [await ground.open(), await ground.open()] as const;
    const ask = fc.record({
      store: fc.nat({ max: 1 }),
      request: fc.nat({ max: 2 }),
      amount: fc.option(fc.integer({ min: -1, max: 12 }), { nil: undefined }),
      reference: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
    });
    let run = 0;
    const property = fc.asyncProperty(fc.array(ask, { maxLength: 12 }), async (asks) => {
      run++;
      const { id } = await stores[0].createAccount(`a${run}`, 1_000n);
      const { key } = await stores[0].createKey(id, 'pocket', { limit_nano: 500n });
      for (const at of [0, 1, 2]) {
        await stores[0].charge(chargeOf(`${run}-${at}`, id, BigInt(at * 5), { key_id: key.id }));
      }
      await Promise.allSettled(
        asks.map(({ store, request, amount, reference }) =>
          stores[store === 0 ? 0 : 1].refund({
            request_id: `${run}-${request}`,
            ...(amount !== undefined && { amount_nano: BigInt(amount) }),
            ...(reference !== undefined && { reference: `ref ${reference}` }),
          }),
        ),
      );
      const entries = await stores[0].ledger(id, { limit: 99 });
      const sum = entries.reduce((all, { amount_nano }) => all + amount_nano, 0n);
      expect(await balanceOf(stores[0], id)).to.equal(sum);
      expect((await stores[0].keys(id))[0]?.spent_nano).to.equal(1_000n - sum);
      for (const at of [0, 1, 2]) {
        const refunded = entries
          .filter(({ refund_of }) => refund_of === `${run}-${at}`)
          .reduce((all, { amount_nano }) => all + amount_nano, 0n);
        expect(refunded <= BigInt(at * 5)).to.equal(true);
      }
      expect((await stores[0].verify()).faults).to.deep.equal([]);
    });
    await fc.assert(property, { numRuns: stores[0].dialect === 'sqlite' ? 40 : 20 });
  });
});
