import { expect } from 'chai';
import { sharing } from '../../src/lib/sharing.js';

describe('calls that share an answer', () => {
  it('are those with one key, as long as the first of them runs', async () => {
    const made: string[] = [];
    const ends: (() => void)[] = [];
    const shared = sharing((key: string) => {
      made.push(key);
      return new Promise<number>((resolve) => ends.push(() => resolve(made.length)));
    });
    const calls = [shared('a'), shared('b'), shared('a')];
    expect(made).to.deep.equal(['a', 'b']);
    for (const end of ends.splice(0)) end();
    expect(await Promise.all(calls)).to.deep.equal([2, 2, 2]);
    const later = shared('a');
    expect(made).to.deep.equal(['a', 'b', 'a']);
    ends[0]?.();
    expect(await later).to.equal(3);
  });

  it('fail together, and then are tried again', async () => {
    let calls = 0;
    const shared = sharing(() => Promise.reject(new Error(String((calls += 1)))));
    const failed = await Promise.allSettled([shared('a'), shared('a')]);
    expect(failed.map((one) => one.status === 'rejected' && String(one.reason))).to.deep.equal([
      'Error: 1',
      'Error: 1',
    ]);
    await shared('a').catch(() => undefined);
    expect(calls).to.equal(2);
  });
});
