import { expect } from 'chai';
import type { AllowanceWindow } from '../../../src/core/limits.js';
import { openStore } from '../../../src/store/open.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, onEachStore, refusal, type Ground } from '../helpers/ground.js';

/** The last hour of October in Zurich, whose clock was set back a week before. */
const EVE_MS = Date.parse('2026-10-31T22:30Z');
const MONTH_MS = Date.parse('2026-10-31T23:00Z');

interface Bench {
  store: Store;
  id: string;
  key_id: string;
  /** Spent and held of the windows of the key, then of the account; nothing may be at fault. */
  figures: () => Promise<[window: string, spent: bigint, held: bigint][]>;
}

async function begin(
  ground: Ground,
  allowances: Partial<Record<AllowanceWindow, bigint>> = { day: 100n },
  of_account: Partial<Record<AllowanceWindow, bigint>> = {},
): Promise<Bench> {
  ground.now_ms = EVE_MS;
  const store = await openStore(ground.place.url, {
    now: () => ground.now_ms,
    time_zone: 'Europe/Zurich',
  });
  const { id } = await store.createAccount('ann', dollars(10));
  const { key } = await store.createKey(id, 'agent', { allowances });
  await store.editAccount(id, { allowances: { amounts: of_account } });
  const figures: Bench['figures'] = async () => {
    expect((await store.verify()).faults).to.deep.equal([]);
    const states = [
      ...((await store.allowances('key', [key.id])).get(key.id) ?? []),
      ...((await store.allowances('account', [id])).get(id) ?? []),
    ];
    return states.map(({ window, spent_nano, held_nano }) => [window, spent_nano, held_nano]);
  };
  return { store, id, key_id: key.id, figures };
}

onEachStore('an allowance', (ground) => {
  let bench: Bench | undefined;
  const open = async (...terms: [object?, object?]): Promise<Bench> => {
    bench = await begin(ground, ...terms);
    return bench;
  };
  afterEach(async () => {
    await bench?.store.close();
    bench = undefined;
  });

  it('refuses a hold beyond it, names the window and when it returns', async () => {
    const { store, id, key_id, figures } = await open({ day: 100n, month: 150n });
    expect(await store.hold('r1', id, 60n, key_id)).to.deep.include({ admitted: true });
    expect(await store.hold('r2', id, 41n, key_id)).to.deep.equal({
      admitted: false,
      because: 'allowance',
      owner: 'key',
      window: 'day',
      amount_nano: 100n,
      spent_nano: 0n,
      held_nano: 60n,
      ends_ms: MONTH_MS,
    });
    expect(await figures()).to.deep.equal([
      ['day', 0n, 60n],
      ['month', 0n, 60n],
    ]);
  });

  it('counts a hold that is open across midnight in the month before', async () => {
    const { store, id, key_id, figures } = await open({ day: 100n, month: 100n });
    await store.hold('r1', id, 90n, key_id);
    ground.now_ms = MONTH_MS - 1;
    expect(await store.hold('r2', id, 20n, key_id)).to.deep.include({ because: 'allowance' });
    ground.now_ms = MONTH_MS;
    expect(await store.hold('r3', id, 20n, key_id)).to.deep.include({ admitted: true });
    await store.charge(chargeOf('r1', id, 80n, { key_id }));
    expect(await figures()).to.deep.equal([
      ['day', 0n, 20n],
      ['month', 0n, 20n],
    ]);
    await store.release('r3', id);
    expect(await figures()).to.deep.equal([
      ['day', 0n, 0n],
      ['month', 0n, 0n],
    ]);
  });

  it('of five hours begins with the first call, and again with the first one after it', async () => {
    const { store, id, key_id } = await open({ '5h': 100n });
    const times = async (): Promise<(number | undefined)[]> => {
      const [state] = (await store.allowances('key', [key_id])).get(key_id) ?? [];
      return [state?.begins_ms, state?.ends_ms];
    };
    expect(await times()).to.deep.equal([0, 0]);
    await store.hold('r1', id, 100n, key_id);
    const hours_ms = 5 * 3_600_000;
    expect(await times()).to.deep.equal([EVE_MS, EVE_MS + hours_ms]);
    ground.now_ms += hours_ms;
    expect(await times()).to.deep.equal([0, 0]);
    ground.now_ms += 7;
    expect(await store.hold('r2', id, 100n, key_id)).to.deep.include({ admitted: true });
    expect(await times()).to.deep.equal([ground.now_ms, ground.now_ms + hours_ms]);
  });

  it('is begun anew once by two processes whose clocks differ', async () => {
    const { store, id, key_id, figures } = await open({ day: 100n });
    const late = await ground.open();
    await store.hold('r1', id, 60n, key_id);
    ground.now_ms = MONTH_MS;
    await store.hold('r2', id, 70n, key_id);
    ground.now_ms = MONTH_MS - 5_000;
    expect(await late.hold('r3', id, 40n, key_id)).to.deep.include({ because: 'allowance' });
    expect(await late.hold('r3', id, 30n, key_id)).to.deep.include({ admitted: true });
    ground.now_ms = MONTH_MS;
    expect(await figures()).to.deep.equal([['day', 0n, 100n]]);
  });

  it('of an account counts the calls of all its keys', async () => {
    const { store, id, key_id, figures } = await open({}, { week: 100n });
    const { key: other } = await store.createKey(id, 'other');
    await store.hold('r1', id, 60n, key_id);
    const refused = await store.hold('r2', id, 41n, other.id);
    expect(refused).to.deep.include({ because: 'allowance', owner: 'account', window: 'week' });
    await store.hold('r2', id, 40n, other.id);
    expect(await figures()).to.deep.equal([['week', 0n, 100n]]);
  });

  it('names of several full windows the one that returns last', async () => {
    const { store, id, key_id } = await open({ day: 50n, month: 60n });
    ground.now_ms = Date.parse('2026-10-20T10:00Z');
    await store.hold('r1', id, 50n, key_id);
    expect(await store.hold('r2', id, 11n, key_id)).to.deep.include({ window: 'month' });
    expect(await store.hold('r2', id, 10n, key_id)).to.deep.include({ window: 'day' });
  });

  it('collects usage beyond the hold as far as every window allows', async () => {
    const { store, id, key_id, figures } = await open({ day: 100n, month: 80n });
    await store.hold('r1', id, 10n, key_id);
    await store.hold('r2', id, 50n, key_id);
    expect(await store.charge(chargeOf('r1', id, 60n, { key_id, hold_nano: 10n }))).to.deep.equal({
      uncollected_nano: 30n,
    });
    expect(await figures()).to.deep.equal([
      ['day', 30n, 50n],
      ['month', 30n, 50n],
    ]);
  });

  it('collects what was held although it was lowered meanwhile', async () => {
    const { store, id, key_id, figures } = await open({ day: 100n });
    await store.hold('r1', id, 90n, key_id);
    await store.editKey(key_id, { allowances: { amounts: { day: 20n } } });
    expect(await store.charge(chargeOf('r1', id, 90n, { key_id }))).to.deep.equal({
      uncollected_nano: 0n,
    });
    expect(await figures()).to.deep.equal([['day', 90n, 0n]]);
    expect(await store.hold('r2', id, 0n, key_id)).to.deep.include({ because: 'allowance' });
  });

  it('counts a charge whose hold is gone, and no more than is left', async () => {
    const { store, id, key_id, figures } = await open({ day: 100n });
    const held = await store.hold('r1', id, 90n, key_id);
    const hold_windows = held.admitted ? held.windows : undefined;
    await store.release('r1', id);
    await store.hold('r2', id, 70n, key_id);
    const charge = chargeOf('r1', id, 90n, { key_id, hold_nano: 90n, hold_windows: hold_windows! });
    expect(await store.charge(charge)).to.deep.equal({ uncollected_nano: 60n });
    expect(await figures()).to.deep.equal([['day', 30n, 70n]]);
  });

  it('charges many at once in their windows, before and after midnight', async () => {
    const { store, id, key_id, figures } = await open({ day: 1_000n });
    const ids = Array.from({ length: 12 }, (_, at) => `r${at}`);
    const hold = async (one: string): Promise<[string, string | undefined]> => {
      const held = await store.hold(one, id, 50n, key_id);
      return [one, held.admitted ? held.windows : undefined];
    };
    const before = await Promise.all(ids.slice(0, 6).map(hold));
    ground.now_ms = MONTH_MS;
    const after = await Promise.all(ids.slice(6).map(hold));
    const { key: free } = await store.createKey(id, 'free');
    await store.hold('f1', id, 50n, free.id);
    const charges = [...before, ...after].map(([one, hold_windows]) =>
      store.charge(chargeOf(one, id, 20n, { key_id, hold_nano: 50n, hold_windows: hold_windows! })),
    );
    charges.push(store.charge(chargeOf('f1', id, 20n, { key_id: free.id, hold_nano: 50n })));
    for (const charged of await Promise.all(charges)) {
      expect(charged).to.deep.equal({ uncollected_nano: 0n });
    }
    expect(await figures()).to.deep.equal([['day', 120n, 0n]]);
  });

  it('gets back the holds of a dead process', async () => {
    const { store, id, key_id, figures } = await open({ day: 100n }, { month: 200n });
    const other = await ground.open();
    await other.hold('r1', id, 40n, key_id);
    await other.hold('r2', id, 20n, key_id);
    await ground.close(other);
    expect(await store.recover()).to.equal(2);
    expect(await figures()).to.deep.equal([
      ['day', 0n, 0n],
      ['month', 0n, 0n],
    ]);
  });

  it('counts from now on where it is set, or set again, while a hold is open', async () => {
    const { store, id, key_id, figures } = await open({});
    await store.hold('r1', id, 90n, key_id);
    await store.editKey(key_id, { allowances: { amounts: { day: 50n } } });
    await store.hold('r2', id, 40n, key_id);
    await store.editKey(key_id, { allowances: { amounts: { day: null } } });
    await store.editKey(key_id, { allowances: { amounts: { day: 50n } } });
    await store.hold('r3', id, 30n, key_id);
    await store.charge(chargeOf('r1', id, 90n, { key_id }));
    await store.charge(chargeOf('r2', id, 40n, { key_id }));
    expect(await figures()).to.deep.equal([['day', 0n, 30n]]);
  });

  it('is higher until its temporary increase ends', async () => {
    const { store, id, key_id } = await open({ '2d': 100n });
    const until_ms = EVE_MS + 3_600_000;
    const raise = { window: '2d', by_nano: 50n, until_ms } as const;
    await store.editKey(key_id, { allowances: { raise } });
    expect(await store.hold('r1', id, 120n, key_id)).to.deep.include({ admitted: true });
    ground.now_ms = until_ms;
    expect(await store.hold('r2', id, 1n, key_id)).to.deep.include({
      because: 'allowance',
      amount_nano: 100n,
      held_nano: 120n,
    });
    const [entry] = await store.audit.list({ limit: 1 });
    expect(entry?.after).to.deep.include({
      raised: { window: '2d', by: '0.00000005', until: new Date(until_ms).toISOString() },
    });
  });

  const wrong: [string, Partial<Record<AllowanceWindow, bigint>>, RegExp][] = [
    ['two windows of one length', { '60m': 1n, '1h': 1n }, /60m and 1h have one length/u],
    ['a day and 24 hours', { day: 1n, '24h': 1n }, /one length/u],
    ['nothing', { day: 0n }, /above zero/u],
    ['more than a balance can hold', { day: 2n ** 63n }, /fit a balance/u],
    ['an unknown window', { year: 1n } as object, /"year" is no window .* day, week, month/u],
  ];
  for (const [name, amounts, message] of wrong) {
    it(`is refused with ${name}, and changes nothing`, async () => {
      const { store, key_id, figures } = await open({ month: 9n });
      const edit = store.editKey(key_id, { allowances: { amounts } });
      expect(await refusal(edit)).to.match(message);
      expect(await figures()).to.deep.equal([['month', 0n, 0n]]);
    });
  }

  const raises: [string, object, RegExp][] = [
    ['of a window that is not there', { window: 'week' }, /no allowance a week .* it has day/u],
    ['that has ended', { until_ms: EVE_MS }, /must end later than now/u],
    ['below zero', { by_nano: -1n }, /below zero/u],
    ['of more than a balance', { by_nano: 2n ** 63n }, /more than a balance/u],
  ];
  for (const [name, wrongly, message] of raises) {
    it(`refuses an increase ${name}`, async () => {
      const { store, key_id } = await open({ day: 9n });
      const raise = { window: 'day', by_nano: 1n, until_ms: EVE_MS + 1, ...wrongly } as const;
      expect(await refusal(store.editKey(key_id, { allowances: { raise } }))).to.match(message);
    });
  }

  it('above the limit that its key has for life is refused', async () => {
    const { store, id } = await open();
    const terms = { limit_nano: dollars(5), allowances: { day: dollars(6) } };
    expect(await refusal(store.createKey(id, 'k', terms))).to.match(/it would never count/u);
  });

  it('that holds more than its open holds is told by verify', async () => {
    const { store, id, key_id } = await open({ day: 100n });
    await store.hold('r1', id, 90n, key_id);
    await ground.place.sql('update allowances set held_nano = 95');
    expect((await store.verify()).faults).to.deep.equal([
      `The allowance day of key ${key_id} has 0.000000095 dollars held, ` +
        'but its open holds add up to 0.00000009.',
    ]);
  });
});
