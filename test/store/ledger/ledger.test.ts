import { expect } from 'chai';
import { chargeOf, dollars, onEachStore, refusal } from '../helpers/ground.js';
import type { LedgerEntry } from '../../../src/store/ledger/ledger-columns.js';

const MAX_NANO = 2n ** 63n - 1n;

onEachStore('the ledger', (ground) => {
  it('credits, and answers the entry', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const entry = await store.credit(id, dollars(5), 'invoice 7');
    expect(entry).to.deep.equal({
      id: entry.id,
      account_id: id,
      kind: 'credit',
      reference: 'invoice 7',
      refund_of: null,
      amount_nano: dollars(5),
      key_id: null,
      model: null,
      provider: null,
      upstream_model: null,
      usage: null,
      estimated: false,
      cached_tokens: null,
      cache_write_tokens: null,
      cache_write_1h_tokens: null,
      audio_input_tokens: null,
      image_input_tokens: null,
      audio_output_tokens: null,
      image_output_tokens: null,
      reasoning_tokens: null,
      agent: null,
      saved_nano: null,
      lost_nano: null,
      cost_nano: null,
      uncollected_nano: 0n,
      created_ms: ground.now_ms,
    });
    expect((await store.account(id))?.balance_nano).to.equal(dollars(6));
    expect((await store.ledger(id, { limit: 9 }))[1]).to.deep.equal(entry);
  });

  it('credits the same reference once, also when many ask at once', async () => {
    const stores = [await ground.open(), await ground.open()] as const;
    const { id } = await stores[0].createAccount('ann', 0n);
    const entries = await Promise.all(
      Array.from({ length: 8 }, (_, at) => stores[at % 2 ? 1 : 0].credit(id, 5n, 'invoice 7')),
    );
    expect(new Set(entries.map((entry) => entry.id)).size).to.equal(1);
    expect((await stores[0].account(id))?.balance_nano).to.equal(5n);
  });

  it('refuses a known reference with another amount, and shows the first amount', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    await store.credit(id, dollars(5), 'invoice 7');
    expect(await refusal(store.credit(id, dollars(6), 'invoice 7'))).to.equal(
      'StoreError: The reference "invoice 7" was used already, for 5.00 dollars.',
    );
    expect((await store.account(id))?.balance_nano).to.equal(dollars(5));
  });

  it('refuses the empty reference of an unset variable, which would credit only once', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    for (const reference of ['', '  ', 'two\nlines', 'a\0b', 'x'.repeat(201)]) {
      expect(await refusal(store.credit(id, 5n, reference))).to.equal(
        'StoreError: A reference is text of one line, of 1 to 200 characters.',
      );
    }
    expect((await store.account(id))?.balance_nano).to.equal(0n);
  });

  it('credits once for a reference with and without spaces around it', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    await store.credit(id, 5n, 'invoice 7 ');
    expect((await store.credit(id, 5n, 'invoice 7')).reference).to.equal('invoice 7');
    expect((await store.account(id))?.balance_nano).to.equal(5n);
  });

  it('allows the same reference in two accounts', async () => {
    const store = await ground.open();
    const ann = await store.createAccount('ann', 0n);
    const ben = await store.createAccount('ben', 0n);
    await store.credit(ann.id, 5n, 'invoice 7');
    await store.credit(ben.id, 6n, 'invoice 7');
    expect((await store.account('ben'))?.balance_nano).to.equal(6n);
  });

  it('takes back at most the amount that is neither spent nor held', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(10));
    await store.hold('r1', id, dollars(4));
    expect(await refusal(store.credit(id, -dollars(6) - 1n, 'correction'))).to.equal(
      'StoreError: The account has 10.00 dollars, of which 4.00 are held: ' +
        '6.000000001 cannot be taken away.',
    );
    await store.credit(id, -dollars(6), 'correction');
    expect((await store.account(id))?.balance_nano).to.equal(dollars(4));
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('helps an account below zero that is credited too little', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    await ground.place.sql('update accounts set balance_nano = -10');
    await store.credit(id, 4n, 'part of it');
    expect((await store.account(id))?.balance_nano).to.equal(-6n);
  });

  const refused: [string, bigint, RegExp][] = [
    ['nothing', 0n, /cannot be zero/],
    ['one nano-dollar over the column', MAX_NANO, /cannot grow by that much/],
    ['more than any column', 2n ** 80n, /cannot grow by that much/],
    ['less than any column', -(2n ** 80n), /cannot be taken away/],
  ];
  for (const [what, amount_nano, message] of refused) {
    it(`refuses a credit of ${what}`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', 1n);
      const said = await refusal(store.credit(id, amount_nano, 'x'));
      expect(said)
        .to.match(/^StoreError/)
        .and.to.match(message);
      expect((await store.account(id))?.balance_nano).to.equal(1n);
      expect((await store.verify()).entries).to.equal(1);
    });
  }

  it('keeps the last nano-dollar of a full column', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 1n);
    await store.credit(id, MAX_NANO - 1n, 'all there is');
    expect((await store.account(id))?.balance_nano).to.equal(MAX_NANO);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('refuses a credit to an account that does not exist', async () => {
    const store = await ground.open();
    expect(await refusal(store.credit('acc_none', 1n, 'x'))).to.equal(
      'StoreError: There is no account acc_none.',
    );
  });

  it('is read in pages, the newest last, and only by its account', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const ben = await store.createAccount('ben', 1n);
    for (let at = 1; at <= 5; at++) await store.credit(id, BigInt(at), `c${at}`);
    const first = await store.ledger(id, { limit: 3 });
    const rest = await store.ledger(id, { after: first[2]?.id ?? 0, limit: 3 });
    expect(first.map(({ reference }) => reference)).to.deep.equal(['c1', 'c2', 'c3']);
    expect(rest.map(({ reference }) => reference)).to.deep.equal(['c4', 'c5']);
    expect(await store.ledger(ben.id, { limit: 9 })).to.have.length(1);
  });

  it('is read backwards, and by reference', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 0n);
    const ben = await store.createAccount('ben', 0n);
    for (let at = 1; at <= 5; at++) await store.credit(id, BigInt(at), `c${at}`);
    await store.credit(ben.id, 1n, 'c4');
    await store.charge(chargeOf('c4', id, 1n));
    const first = await store.ledger(id, { before: Number.MAX_SAFE_INTEGER, limit: 3 });
    const rest = await store.ledger(id, { before: first[2]?.id ?? 0, limit: 9 });
    const referencesOf = (entries: LedgerEntry[]) => entries.map(({ reference }) => reference);
    expect(referencesOf(first)).to.deep.equal(['c4', 'c5', 'c4']);
    expect(referencesOf(rest)).to.deep.equal(['c3', 'c2', 'c1']);
    const found = await store.ledger(id, { reference: 'c4', limit: 9 });
    expect(found.map(({ kind }) => kind)).to.deep.equal(['credit', 'charge']);
    expect(await store.ledger(id, { reference: 'none', limit: 9 })).to.deep.equal([]);
  });
});
