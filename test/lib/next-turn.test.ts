import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inNextTurn } from '../../src/lib/next-turn.js';

describe('inNextTurn', () => {
  it('calls the functions of one turn in their order, before any promise that they resolve', async () => {
    const calls: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      inNextTurn(() => {
        calls.push(name);
        void Promise.resolve().then(() => calls.push(`${name} goes on`));
      });
    }
    await Promise.resolve();
    expect(calls).to.deep.equal([]);
    await nextTurn();
    expect(calls).to.deep.equal(['a', 'b', 'c', 'a goes on', 'b goes on', 'c goes on']);
  });

  it('calls a function that comes meanwhile in the turn after', async () => {
    const calls: string[] = [];
    inNextTurn(() => {
      calls.push('first');
      inNextTurn(() => calls.push('second'));
    });
    await nextTurn();
    expect(calls).to.deep.equal(['first']);
    await nextTurn();
    expect(calls).to.deep.equal(['first', 'second']);
  });
});
