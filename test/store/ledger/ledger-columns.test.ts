import { expect } from 'chai';
import fc from 'fast-check';
import {
  CHARGE_COLUMNS,
  chargeValue,
  usageOfEntry,
  type Charge,
} from '../../../src/store/ledger/ledger-columns.js';
import { TOKEN_CLASSES } from '../../../src/core/usage.js';
import type { LedgerEntry } from '../../../src/store/ledger/ledger-columns.js';
import { chargeOf, dollars, onEachStore } from '../helpers/ground.js';

onEachStore('the table of ledger columns', (ground) => {
  const classes = {
    cached_tokens: 2 ** 40,
    cache_write_tokens: 2,
    cache_write_1h_tokens: 6,
    audio_input_tokens: 0,
    image_input_tokens: 2,
    audio_output_tokens: 4,
    image_output_tokens: 3,
    reasoning_tokens: 5,
  };
  const dollarsOfCaches = { saved_nano: -(2n ** 60n), lost_nano: 7n, upstream_cost_nano: 8n };
  const charge = (account_id: string, request_id: string) =>
    chargeOf(request_id, account_id, 1n, {
      hold_nano: 1n,
      estimated: true,
      ...classes,
      upstream_model: 'gpt-4o-mini-2024-07-18',
      agent: 'codex',
      ...dollarsOfCaches,
    });

  function expectFields(entries: readonly LedgerEntry[], requests: readonly string[]): void {
    expect(entries.map(({ reference }) => reference)).to.have.members(requests);
    const written = charge('', '');
    for (const column of CHARGE_COLUMNS) {
      const { name } = column;
      for (const entry of entries) expect(entry[name], name).to.equal(chargeValue(written, column));
    }
  }

  async function open() {
    const store = await ground.open();
    const { id } = await store.createAccount('ann', dollars(1));
    const charges = async () => (await store.ledger(id, { limit: 9 })).slice(1);
    return { store, id, charges };
  }

  it('fills every column of a single charge with the field of its name', async () => {
    const { store, id, charges } = await open();
    await store.charge(charge(id, 'one'));
    expectFields(await charges(), ['one']);
  });

  it('fills every column of charges that the store makes together', async () => {
    const { store, id, charges } = await open();
    const requests = ['one', 'two', 'three', 'four'];
    for (const request of requests) await store.hold(request, id, 1n);
    await Promise.all(requests.map((request) => store.charge(charge(id, request))));
    expectFields(await charges(), requests);
  });

  it('keeps the fields of charges made together, whatever they have in common', async () => {
    const store = await ground.open();
    const owners = await Promise.all(
      ['ann', 'ben'].map((name) => store.createAccount(name, dollars(1))),
    );
    const [ann = '', ben = ''] = owners.map(({ id }) => id);
    const differences = fc.constantFrom<Partial<Charge>>(
      { account_id: ben },
      { key_id: 'key_2' },
      { model: 'rare' },
      { provider: 'spare' },
      { estimated: true },
      { not_owed_nano: 7n },
      { usage: '{"images":2}' },
      { upstream_model: 'rare-2' },
      { agent: 'codex' },
      { saved_nano: -3n },
      { lost_nano: 4n },
      { upstream_cost_nano: 5n },
      ...TOKEN_CLASSES.map((name) => ({ [name]: 3 })),
    );
    const batches = fc.array(fc.boolean(), { minLength: 2, maxLength: 20 });
    const none = Object.fromEntries(CHARGE_COLUMNS.map(({ name }) => [name, null]));
    let made = 0;
    await fc.assert(
      fc.asyncProperty(differences, differences, batches, async (own, others, batch) => {
        const charges = batch.map((differs) => {
          const fields = { hold_nano: 20n, ...others, ...(differs && own) };
          const { account_id = ann, ...rest } = fields;
          return chargeOf(`request-${(made += 1)}`, account_id, BigInt(made % 20), rest);
        });
        await Promise.all(
          charges.map(({ request_id, account_id }) => store.hold(request_id, account_id, 20n)),
        );
        await Promise.all(charges.map((one) => store.charge(one)));
        const newest = { before: Number.MAX_SAFE_INTEGER, limit: 20 };
        const ledgers = await Promise.all(owners.map(({ id }) => store.ledger(id, newest)));
        const entries = new Map(ledgers.flat().map((entry) => [entry.reference, entry]));
        for (const { request_id, cost_nano, hold_nano: _, ...written } of charges) {
          const { not_owed_nano: uncollected_nano = 0n, upstream_cost_nano, ...rest } = written;
          const amounts = { amount_nano: -cost_nano, uncollected_nano };
          const expected = { ...none, ...rest, ...amounts, cost_nano: upstream_cost_nano ?? null };
          expect(entries.get(request_id)).to.deep.include(expected);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('fills every column of a charge that keeps its answer', async () => {
    const { store, id, charges } = await open();
    const call = { account_id: id, request_id: 'one', key_sha256: 'key', request_sha256: 'body' };
    const answer = { status: 200, text: '{}' };
    await store.charge(charge(id, 'one'), { ...call, due_ms: ground.now_ms + 1, answer });
    expectFields(await charges(), ['one']);
  });

  it('shows the units of a charge as one object, without the classes that are not named', async () => {
    const { store, id, charges } = await open();
    await store.charge(chargeOf('one', id, 1n, { cached_tokens: 0, reasoning_tokens: 3 }));
    const [entry] = await charges();
    expect(entry && usageOfEntry(entry)).to.deep.equal({
      prompt_tokens: 9,
      completion_tokens: 5,
      cached_tokens: 0,
      reasoning_tokens: 3,
    });
  });

  it('leaves every column of a credit null, or false where it is a flag', async () => {
    const { store, id, charges } = await open();
    await store.credit(id, 1n, 'gift');
    const [entry] = await charges();
    for (const { name, type } of CHARGE_COLUMNS) {
      expect(entry?.[name], name).to.equal(type === 'boolean' ? false : null);
    }
    expect(entry && usageOfEntry(entry)).to.equal(null);
  });
});
