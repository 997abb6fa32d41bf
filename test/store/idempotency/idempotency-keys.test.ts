import { expect } from 'chai';
import type {
  EndedCall,
  IdempotentCall,
} from '../../../src/store/idempotency/idempotency-types.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars, ENDED, onEachStore, refusal } from '../helpers/ground.js';

const ANSWER = { status: 200, text: '{"a":"é \\u0000"}' };
const DAY_MS = 86_400_000;

onEachStore('an idempotent request in the store', (ground) => {
  let store: Store;
  let account_id: string;

  beforeEach(async () => {
    store = await ground.open();
    ({ id: account_id } = await store.createAccount('ann', dollars(1)));
  });

  const call = (request_id: string, more: Partial<IdempotentCall> = {}): IdempotentCall => ({
    account_id,
    request_id,
    key_sha256: 'k',
    request_sha256: 'a',
    due_ms: ground.now_ms + DAY_MS,
    ...more,
  });
  const answered = (request_id: string): EndedCall => ({ ...call(request_id), answer: ANSWER });
  const begin = (request_id: string, more: Partial<IdempotentCall> = {}, at = store) =>
    at.idempotency.begin(call(request_id, more));

  it('is begun once, by one of many, in whichever process', async () => {
    const another = await ground.open();
    const begun = await Promise.all(
      Array.from({ length: 200 }, (_, at) => begin(`r${at}`, {}, at % 2 ? store : another)),
    );
    expect(begun.filter(({ is }) => is === 'new')).to.have.length(1);
    expect(begun.filter(({ is }) => is === 'running')).to.have.length(199);
  });

  it('is another one for another account, key or time', async () => {
    const { id } = await store.createAccount('bob', 0n);
    expect(await begin('r1')).to.deep.equal({ is: 'new' });
    expect(await begin('r2', { account_id: id })).to.deep.equal({ is: 'new' });
    expect(await begin('r3', { key_sha256: 'other' })).to.deep.equal({ is: 'new' });
    expect(await begin('r4', { request_sha256: 'other' })).to.deep.equal({ is: 'other' });
  });

  it('is answered with its charge, and then as before', async () => {
    await begin('r1');
    await store.hold('r1', account_id, 10n);
    expect(await store.charge(chargeOf('r1', account_id, 3n), answered('r1'))).to.deep.equal({
      uncollected_nano: 0n,
    });
    expect(await begin('r2')).to.deep.equal({ is: 'answered', answer: ANSWER });
    expect(await begin('r2', { request_sha256: 'other' })).to.deep.equal({ is: 'other' });
    expect(await store.charge(chargeOf('r1', account_id, 3n), answered('r1'))).to.equal(false);
    await store.idempotency.forget(call('r1'));
    expect(await begin('r3')).to.deep.equal({ is: 'answered', answer: ANSWER });
    expect((await store.account(account_id))?.balance_nano).to.equal(dollars(1) - 3n);
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
  });

  it('is answered without a charge, or without its words', async () => {
    await begin('r1');
    await store.idempotency.answer(answered('r1'));
    expect(await begin('r2')).to.deep.equal({ is: 'answered', answer: ANSWER });
    await begin('r3', { key_sha256: 'long' });
    await store.idempotency.answer({ ...call('r3', { key_sha256: 'long' }), answer: null });
    const again = await begin('r4', { key_sha256: 'long' });
    expect(again).to.deep.equal({ is: 'answered', answer: null });
  });

  it('may be tried again once it is forgotten, by itself alone', async () => {
    await begin('r1');
    await store.idempotency.forget(call('r2'));
    expect(await begin('r3')).to.deep.equal({ is: 'running' });
    await store.idempotency.forget(call('r1'));
    expect(await begin('r3', { request_sha256: 'other' })).to.deep.equal({ is: 'new' });
  });

  it('is over with its time, but not while it runs', async () => {
    await begin('r1');
    await begin('r2', { key_sha256: 'slow' });
    await store.charge(chargeOf('r1', account_id, 3n), answered('r1'));
    ground.now_ms += DAY_MS - 1;
    expect(await begin('r3')).to.deep.equal({ is: 'answered', answer: ANSWER });
    expect(await store.idempotency.sweep(1_000)).to.equal(0);
    ground.now_ms += 1;
    expect(await begin('r4', { request_sha256: 'other' })).to.deep.equal({ is: 'new' });
    expect(await begin('r5', { key_sha256: 'slow' })).to.deep.equal({ is: 'running' });
    expect(await store.idempotency.sweep(1_000)).to.equal(0);
    await store.idempotency.answer(answered('r4'));
    ground.now_ms += DAY_MS;
    expect(await store.idempotency.sweep(1_000)).to.equal(1);
  });

  it('gives up the oldest answers, but not their keys, where all weigh too much', async () => {
    const long = (text: string) => ({ status: 200, text: text.repeat(10) });
    for (const [at, text] of ['a', 'é', 'c', 'd'].entries()) {
      const words = { key_sha256: text, due_ms: ground.now_ms + DAY_MS + at };
      await begin(`r${at}`, words);
      const one = { ...call(`r${at}`, words), answer: long(text) };
      await store.charge(chargeOf(`r${at}`, account_id, 1n), one);
    }
    await begin('r4', { key_sha256: 'running' });
    expect(await store.idempotency.sweep(50)).to.equal(0);
    expect(await begin('r5', { key_sha256: 'a' })).to.deep.include({ answer: long('a') });
    expect(await store.idempotency.sweep(20)).to.equal(0);
    for (const text of ['a', 'é']) {
      const again = await begin('r6', { key_sha256: text });
      expect(again).to.deep.equal({ is: 'answered', answer: null });
    }
    for (const text of ['c', 'd']) {
      const again = await begin('r7', { key_sha256: text });
      expect(again).to.deep.equal({ is: 'answered', answer: long(text) });
    }
    expect(await begin('r8', { key_sha256: 'running' })).to.deep.equal({ is: 'running' });
  });

  /** Answers under one key each, the first the oldest; charged for, or not. */
  const keepAll = async (owner: string, texts: readonly string[], isFree: boolean) => {
    for (const [at, text] of texts.entries()) {
      const words = { account_id: owner, key_sha256: text, due_ms: ground.now_ms + DAY_MS + at };
      const one = { ...call(`${owner}-${text}`, words), answer: { status: 200, text } };
      await begin(one.request_id, words);
      if (isFree) await store.idempotency.answer(one);
      else await store.charge(chargeOf(one.request_id, owner, 1n), one);
    }
  };
  const kept = async (): Promise<unknown[]> => {
    const rows = await ground.place.sql(
      'select answer from idempotency_keys where answer is not null order by answer',
    );
    return rows.map(({ answer }) => answer);
  };

  it('gives up the answers of the account that keeps the most, not those of all', async () => {
    const { id: eve } = await store.createAccount('eve', dollars(1));
    await keepAll(account_id, ['ann-00000'], false);
    ground.now_ms += 10;
    await keepAll(eve, ['eve-00000', 'eve-11111', 'eve-22222', 'eve-33333'], false);
    await store.idempotency.sweep(27);
    expect(await kept()).to.deep.equal(['ann-00000', 'eve-22222', 'eve-33333']);
    await store.idempotency.sweep(18);
    expect(await kept()).to.deep.equal(['ann-00000', 'eve-33333']);
  });

  it('gives answers that cost nothing a tenth of the room', async () => {
    const { id: eve } = await store.createAccount('eve', dollars(1));
    await keepAll(account_id, ['ann-00000'], true);
    await keepAll(account_id, ['ann-11111'], false);
    ground.now_ms += 10;
    await keepAll(eve, ['eve-00000', 'eve-11111', 'eve-22222'], true);
    await store.idempotency.sweep(180);
    expect(await kept()).to.deep.equal(['ann-00000', 'ann-11111', 'eve-22222']);
  });

  it('gives up thousands of answers as well, also when several do it at once', async () => {
    await ground.place.sql(`
      insert into idempotency_keys (account_id, key_sha256, request_sha256, request_id, due_ms, status, answer)
      with recursive n (at) as (select 1 union all select at + 1 from n where at < 1000)
      select '${account_id}', 'k' || at, 'asked', 'r' || at, ${ground.now_ms + DAY_MS} + at, 200, '0123456789' from n`);
    const others = await Promise.all([ground.open(), ground.open(), ground.open()]);
    const sweeps = [store, ...others].map(({ idempotency }) => idempotency.sweep(25));
    expect(await Promise.all(sweeps)).to.deep.equal([0, 0, 0, 0]);
    const left = await ground.place.sql(
      'select request_id from idempotency_keys where answer is not null order by due_ms',
    );
    expect(left.map(({ request_id }) => request_id)).to.deep.equal(['r999', 'r1000']);
    expect(await ground.place.sql('select 1 from idempotency_keys')).to.have.length(1_000);
  });

  it('is released with a process that is gone', async () => {
    await begin('r1');
    await begin('r2', { key_sha256: 'done' });
    await store.hold('r1', account_id, 10n);
    await store.idempotency.answer({ ...answered('r2'), key_sha256: 'done' });
    await ground.place.sql(`
      insert into processes (id, place, pid, started_ms, seen_ms) values ('ghost', ${ENDED}, 0, 0);
      update holds set process_id = 'ghost';
      update idempotency_keys set process_id = 'ghost' where request_id = 'r1'`);
    expect(await begin('r3')).to.deep.equal({ is: 'running' });
    expect(await store.recover()).to.equal(1);
    expect(await begin('r3')).to.deep.equal({ is: 'new' });
    expect((await begin('r4', { key_sha256: 'done' })).is).to.equal('answered');
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
  });

  it('is released with a process that closes', async () => {
    const other = await ground.open();
    await begin('r1', {}, other);
    await ground.close(other);
    expect(await begin('r2')).to.deep.equal({ is: 'new' });
  });

  it('is not charged where another call has its key by now', async () => {
    await begin('r1');
    await store.hold('r1', account_id, 10n);
    await ground.place.sql('delete from idempotency_keys');
    await begin('r2');
    const late = store.charge(chargeOf('r1', account_id, 3n), answered('r1'));
    expect(await refusal(late)).to.match(/^StoreError: The Idempotency-Key of request r1 is an/u);
    expect(await refusal(store.idempotency.answer(answered('r1')))).to.match(/^StoreError/u);
    expect((await store.account(account_id))?.held_nano).to.equal(10n);
    await store.release('r1', account_id);
    await store.charge(chargeOf('r2', account_id, 3n), answered('r2'));
    expect((await store.account(account_id))?.balance_nano).to.equal(dollars(1) - 3n);
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
  });

  it('is charged and answered though its key was lost meanwhile', async () => {
    await begin('r1');
    await ground.place.sql('delete from idempotency_keys');
    expect(await store.charge(chargeOf('r1', account_id, 3n), answered('r1'))).to.deep.equal({
      uncollected_nano: 0n,
    });
    expect(await begin('r2')).to.deep.equal({ is: 'answered', answer: ANSWER });
  });
});
