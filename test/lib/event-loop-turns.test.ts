import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventLoopTurns, inNextTurn } from '../../src/lib/event-loop-turns.js';

describe('the turns of long work', () => {
  it('come one after another, one in each turn of the event loop', async () => {
    const turns = new EventLoopTurns();
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      for (let step = 0; step < 3; step += 1) {
        await turns.next();
        order.push(name);
      }
    };
    const all = Promise.all(['a', 'b', 'c'].map(work));
    let most = 0;
    while (order.length < 9) {
      const before = order.length;
      await nextTurn();
      most = Math.max(most, order.length - before);
    }
    await all;
    expect(order.join('')).to.equal('abcabcabc');
    expect(most).to.equal(1);
  });
});

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
