import { expect } from 'chai';
import { cached } from '../../../src/dashboard/sign-in/cached.js';

describe('a value that is fetched once and kept', () => {
  let now_ms: number;
  let asked: number;
  let works: boolean;
  const answer = cached(
    async () => {
      const mine = ++asked;
      await Promise.resolve();
      if (!works) throw new Error('down');
      return mine;
    },
    1000,
    () => now_ms,
  );
  beforeEach(() => {
    answer.forget();
    [now_ms, asked, works] = [0, 0, true];
  });

  it('is found out once, by many at once', async () => {
    const all = await Promise.all([answer.get(), answer.get(), answer.get()]);
    expect(all).to.deep.equal([1, 1, 1]);
    now_ms = 999;
    expect(await answer.get()).to.equal(1);
    now_ms = 1000;
    expect(await answer.get()).to.equal(2);
  });

  it('is no failure, which all who wait are told', async () => {
    works = false;
    const all = await Promise.allSettled([answer.get(), answer.get()]);
    expect(all.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(asked).to.equal(1);
    works = true;
    expect(await answer.get()).to.equal(2);
  });

  it('can be forgotten, also while it is found out', async () => {
    const first = answer.get();
    answer.forget();
    expect(await answer.get()).to.equal(2);
    expect(await first).to.equal(1);
    expect(await answer.get()).to.equal(2);
  });
});
