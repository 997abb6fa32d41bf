import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Child } from '../helpers/child.js';
import { chargeOf, dollars, onEachStore } from '../helpers/ground.js';

/** What is done behind the store's back, and what is said about it. ID stands for the account. */
const damages: [string, { sqlite: string; postgres?: string }, string[]][] = [
  [
    'a balance that the ledger does not bear out',
    { sqlite: 'update accounts set balance_nano = balance_nano + 1' },
    ['Account ID has a balance of 8.000000001 dollars, but its ledger adds up to 8.00.'],
  ],
  [
    'more held than there are holds for',
    { sqlite: 'update accounts set held_nano = 5000000000' },
    ['Account ID has 5.00 dollars held, but its open holds add up to 1.00.'],
  ],
  [
    'a charge that went missing',
    { sqlite: `delete from ledger where kind = 'charge'` },
    ['Account ID has a balance of 8.00 dollars, but its ledger adds up to 10.00.'],
  ],
  [
    'a hold that went missing',
    { sqlite: 'delete from holds' },
    ['Account ID has 1.00 dollars held, but its open holds add up to 0.00.'],
  ],
  [
    'a charge that pays',
    {
      sqlite: `update ledger set amount_nano = 2000000000 where kind = 'charge';
        update accounts set balance_nano = 12000000000`,
    },
    ['Entry N of account ID is a charge of 2.00 dollars.'],
  ],
  [
    'a refund of what was never charged',
    {
      sqlite: `insert into ledger
          (account_id, kind, reference, refund_of, amount_nano, estimated, created_ms)
          values ('ID', 'refund', 'x', 'r9', 1000000000, false, 0);
        update accounts set balance_nano = 9000000000`,
    },
    ['Account ID was refunded 1.00 dollars of the request r9, without a charge.'],
  ],
  [
    'refunds of more than a charge',
    {
      sqlite: `insert into ledger
          (account_id, kind, reference, refund_of, amount_nano, estimated, created_ms)
          values ('ID', 'refund', 'x', 'r1', 1500000000, false, 0),
            ('ID', 'refund', 'y', 'r1', 1000000000, false, 0);
        update accounts set balance_nano = 10500000000`,
    },
    ['Account ID was refunded 2.50 dollars of a charge of 2.00, the request r1.'],
  ],
  [
    'a credit of nothing',
    {
      sqlite: `insert into ledger (account_id, kind, reference, amount_nano, estimated, created_ms)
        values ('ID', 'credit', 'x', 0, false, 0)`,
    },
    ['Entry N of account ID is a credit of 0.00 dollars.'],
  ],
  [
    'a credit that is not collected',
    { sqlite: `update ledger set uncollected_nano = 1000000000 where kind = 'credit'` },
    ['Entry N of account ID is a credit with 1.00 dollars uncollected.'],
  ],
  [
    'less than nothing that is not collected',
    { sqlite: `update ledger set uncollected_nano = -1 where kind = 'charge'` },
    ['Entry N of account ID is a charge with -0.000000001 dollars uncollected.'],
  ],
  [
    'a credit by which a cache saved',
    { sqlite: `update ledger set saved_nano = 1 where kind = 'credit'` },
    ['Entry N of account ID is a credit that cannot have saved or lost so much.'],
  ],
  [
    'a charge that lost less than nothing',
    { sqlite: `update ledger set lost_nano = -1 where kind = 'charge'` },
    ['Entry N of account ID is a charge that cannot have saved or lost so much.'],
  ],
  [
    'a credit for which an upstream took something',
    { sqlite: `update ledger set cost_nano = 0 where kind = 'credit'` },
    ['Entry N of account ID is a credit for which an upstream took 0.00 dollars.'],
  ],
  [
    'an upstream that paid for a charge',
    { sqlite: `update ledger set cost_nano = -1 where kind = 'charge'` },
    ['Entry N of account ID is a charge for which an upstream took -0.000000001 dollars.'],
  ],
  [
    'a request that was charged twice',
    {
      sqlite: `drop index ledger_account_id_kind_reference_unique;
        insert into ledger (account_id, kind, reference, amount_nano, estimated, created_ms)
        select account_id, kind, reference, 0, estimated, 0 from ledger where kind = 'charge'`,
      postgres: `alter table ledger drop constraint ledger_account_id_kind_reference_unique;
        insert into ledger (account_id, kind, reference, amount_nano, estimated, created_ms)
        select account_id, kind, reference, 0, estimated, 0 from ledger where kind = 'charge'`,
    },
    ['Account ID has 2 entries for the charge "r1".'],
  ],
  [
    'an entry that its day of usage lacks',
    { sqlite: 'update request_roll_up set ledger_id = 99' },
    [
      'The usage of account ID is 0 calls for 0.00 dollars, ' +
        'but its ledger says 1 calls for 2.00 dollars.',
    ],
  ],
  [
    'an account that went missing',
    {
      sqlite: 'delete from accounts',
      postgres: `alter table ledger drop constraint ledger_account_id_foreign;
        alter table holds drop constraint holds_account_id_foreign; delete from accounts`,
    },
    [
      'Ledger entries of 8.00 dollars belong to account ID, which does not exist.',
      'Holds of 1.00 dollars belong to account ID, which does not exist.',
    ],
  ],
];

/** The same for a key with a limit; KEY stands for it. */
const keyDamages: [string, string, string[]][] = [
  [
    'a key that has spent what no charge bears out',
    `update keys set spent_nano = 1 where name = 'pocket'`,
    ['Key KEY has spent 0.000000001 dollars, but its charges add up to 1.00.'],
  ],
  [
    'a key that holds less than there are holds for',
    `update keys set held_nano = 0 where name = 'pocket'`,
    ['Key KEY has 0.00 dollars held, but its open holds add up to 3.00.'],
  ],
  [
    'a key that counts without a limit',
    `update keys set limit_nano = null where name = 'pocket'`,
    ['Key KEY has no limit, but counts what it spends.'],
  ],
  [
    'a hold that is counted for no key',
    'delete from keys',
    ['Holds of 3.00 dollars are counted for key KEY, which has no limit.'],
  ],
];

onEachStore('the verification of a store', (ground) => {
  it('counts, and finds nothing where all is well', async () => {
    const store = await ground.open();
    expect(await store.verify()).to.deep.equal({
      accounts: 0,
      entries: 0,
      open_holds: 0,
      faults: [],
    });
    const { id } = await store.createAccount('ann', 5n);
    await store.createAccount('ben', 0n);
    await store.charge(chargeOf('r1', id, 9n));
    expect(await store.verify()).to.deep.equal({
      accounts: 2,
      entries: 2,
      open_holds: 0,
      faults: [],
    });
  });

  for (const [what, { sqlite, postgres = sqlite }, faults] of damages) {
    it(`finds ${what}`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', dollars(10));
      await store.charge(chargeOf('r1', id, dollars(2)));
      await store.hold('r2', id, dollars(1));
      const damage = store.dialect === 'sqlite' ? sqlite : postgres;
      await ground.place.sql(damage.replaceAll('ID', id));
      const report = await store.verify();
      const said = report.faults.map((fault) =>
        fault.replaceAll(id, 'ID').replace(/Entry \d+/, 'Entry N'),
      );
      expect(said).to.deep.equal(faults);
    });
  }

  for (const [what, damage, faults] of keyDamages) {
    it(`finds ${what}`, async () => {
      const store = await ground.open();
      const { id } = await store.createAccount('ann', dollars(10));
      const { key } = await store.createKey(id, 'pocket', { limit_nano: dollars(5) });
      await store.hold('r1', id, dollars(2), key.id);
      await store.charge(chargeOf('r1', id, dollars(1), { key_id: key.id }));
      await store.hold('r2', id, dollars(3), key.id);
      expect((await store.verify()).faults).to.deep.equal([]);
      await ground.place.sql(damage);
      const { faults: said } = await store.verify();
      expect(said.map((fault) => fault.replaceAll(key.id, 'KEY'))).to.deep.equal(faults);
    });
  }

  it('adds up credits whose sum passes the column on the way', async () => {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', 2n ** 63n - 1n);
    for (let at = 0; at < 3; at++) {
      await store.charge(chargeOf(`r${at}`, id, 2n ** 63n - 1n));
      await store.credit(id, 2n ** 63n - 1n, `c${at}`);
    }
    await ground.place.sql('update ledger set created_ms = -id');
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('sees one state of the books while another process writes', async function () {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const child = new Child('spender', ground.place.url, id, 1_000_000);
    await child.settled(1);
    for (let settled = 0; settled < 300; settled = child.lines.length) {
      expect(child.hasEnded, `the other process ended after ${settled} charges`).to.equal(false);
      expect((await store.verify()).faults).to.deep.equal([]);
      // SQLite answers without leaving this turn of the loop, but the child is heard in others.
      await nextTurn();
    }
    await child.kill();
    expect((await store.verify()).faults).to.deep.equal([]);
  });
});
