import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryBudget } from '../../../../src/http/memory-budget.js';
import { itemsUpTo, SocketMemory } from '../../../../src/modalities/chat/formats/socket-memory.js';

const MAX_BYTES = 100;

interface Act {
  /** The turn that it continues, counted back from the newest; none if there are not as many. */
  back: number;
  characters: number;
}

const acts = fc.array(
  fc.record({ back: fc.integer({ min: 0, max: 6 }), characters: fc.integer({ min: 0, max: 60 }) }),
  { maxLength: 40 },
);

describe('the memory of a socket', () => {
  it('tells a whole conversation or nothing, within its bytes, and frees all', () => {
    fc.assert(
      fc.property(acts, (all) => {
        const budget = new MemoryBudget();
        const memory = new SocketMemory(MAX_BYTES, () => budget.forRequest('acc', 1_000_000));
        /** What each turn must tell, by a plain model that forgets nothing. */
        const whole: string[][] = [];
        const newest = (): number => whole.length - 1;
        all.forEach(({ back, characters }: Act, at) => {
          const continued = newest() - back;
          const earlier = back === 0 ? undefined : memory.hold(String(continued));
          const items = `${at}`.padEnd(characters, 'x');
          memory.remember(String(whole.length), items, earlier);
          whole.push([...(earlier ? (whole[continued] ?? []) : []), items]);
          memory.release(earlier);
          expect(memory.bytes).to.be.at.most(MAX_BYTES);
          expect(budget.bytes).to.equal(memory.bytes);
        });
        whole.forEach((items, at) => {
          const turn = memory.hold(String(at));
          if (turn) expect(itemsUpTo(turn)).to.deep.equal(items);
          memory.release(turn);
        });
        memory.close();
        expect(memory.bytes).to.equal(0);
        expect(budget.bytes).to.equal(0);
      }),
    );
  });

  it('keeps what a turn that runs continues, and nothing after its end', () => {
    const budget = new MemoryBudget();
    const memory = new SocketMemory(MAX_BYTES, () => budget.forRequest('acc', 1_000_000));
    memory.remember('one', 'a'.repeat(60), undefined);
    const running = memory.hold('one');
    memory.remember('two', 'b'.repeat(60), undefined);
    expect(memory.hold('one')).to.equal(undefined);
    expect(itemsUpTo(running)).to.deep.equal(['a'.repeat(60)]);
    memory.close();
    memory.release(running);
    memory.remember('three', 'c', running);
    expect([memory.bytes, budget.bytes]).to.deep.equal([0, 0]);
  });

  it('remembers nothing where other sockets use all the memory', () => {
    const budget = new MemoryBudget();
    const memory = new SocketMemory(MAX_BYTES, () => budget.forRequest('acc', 100));
    memory.remember('one', 'a'.repeat(40), undefined);
    memory.remember('two', 'b'.repeat(40), undefined);
    expect(memory.hold('two')).to.equal(undefined);
    memory.close();
    expect(budget.bytes).to.equal(0);
  });
});
