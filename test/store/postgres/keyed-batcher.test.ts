import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedBatcher, type KeyedBatch } from '../../../src/store/postgres/keyed-batcher.js';
import { refusal } from '../helpers/ground.js';

/** Work that ends when the test says so, and notes who went with whom. */
class Slow implements KeyedBatch<string, string> {
  readonly trips: string[][] = [];
  #ends: (() => void)[] = [];
  undoes = false;
  fails = false;

  async runOne(item: string): Promise<string> {
    await this.#trip([item]);
    if (item === 'bad') throw new Error('not this one');
    return `${item}!`;
  }

  async runBatch(items: readonly string[]): Promise<string[] | undefined> {
    await this.#trip([...items]);
    if (this.fails) throw new Error('the line is dead');
    return this.undoes ? undefined : items.map((item) => `${item}!`);
  }

  #trip(items: string[]): Promise<void> {
    this.trips.push(items);
    return new Promise((resolve) => this.#ends.push(resolve));
  }

  /** Ends all trips under way, and those that begin then, until none is left. */
  async end(): Promise<void> {
    for (; this.#ends.length > 0; await nextTurn()) for (const end of this.#ends.splice(0)) end();
  }
}

describe('a keyed batcher', () => {
  let work: Slow;
  let batcher: KeyedBatcher<string, string>;

  beforeEach(() => {
    work = new Slow();
    batcher = new KeyedBatcher(work);
  });

  it('runs the first item of a key at once, alone', async () => {
    const one = batcher.add('x', 'a');
    expect(work.trips).to.deep.equal([['a']]);
    await work.end();
    expect(await one).to.equal('a!');
    const next = batcher.add('x', 'b');
    expect(work.trips).to.deep.equal([['a'], ['b']]);
    await work.end();
    expect(await next).to.equal('b!');
  });

  it('runs items that arrive meanwhile together, and answers each its own value', async () => {
    const all = Promise.all(['a', 'b', 'c', 'd'].map((item) => batcher.add('x', item)));
    await work.end();
    expect(await all).to.deep.equal(['a!', 'b!', 'c!', 'd!']);
    expect(work.trips).to.deep.equal([['a'], ['b', 'c', 'd']]);
  });

  it('runs different keys side by side', async () => {
    const all = Promise.all([batcher.add('x', 'a'), batcher.add('y', 'b'), batcher.add('z', 'c')]);
    expect(work.trips).to.deep.equal([['a'], ['b'], ['c']]);
    await work.end();
    expect(await all).to.deep.equal(['a!', 'b!', 'c!']);
  });

  it('limits the size of a batch', async () => {
    const items = Array.from({ length: 150 }, (_, at) => String(at));
    const all = Promise.all(items.map((item) => batcher.add('x', item)));
    await work.end();
    expect(await all).to.deep.equal(items.map((item) => `${item}!`));
    expect(work.trips.map(({ length }) => length)).to.deep.equal([1, 64, 64, 21]);
  });

  it('runs each item alone if the batch could not run', async () => {
    work.undoes = true;
    const asked = ['a', 'b', 'bad', 'c'].map((item) => batcher.add('x', item));
    const all = Promise.allSettled(asked);
    await work.end();
    const results = await all;
    expect(results.map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(work.trips).to.deep.equal([['a'], ['b', 'bad', 'c'], ['b'], ['bad'], ['c']]);
  });

  it('rejects the whole batch after an error of unknown outcome, and goes on', async () => {
    work.fails = true;
    const [first, ...others] = ['a', 'b', 'c'].map((item) => batcher.add('x', item));
    const said = Promise.all(others.map((one) => refusal(one)));
    await work.end();
    expect(await first).to.equal('a!');
    expect(await said).to.deep.equal(['Error: the line is dead', 'Error: the line is dead']);
    const next = batcher.add('x', 'd');
    await work.end();
    expect(await next).to.equal('d!');
  });

  it('rejects an item that fails alone, and goes on', async () => {
    const bad = refusal(batcher.add('x', 'bad'));
    const next = batcher.add('x', 'b');
    await work.end();
    expect(await bad).to.equal('Error: not this one');
    expect(await next).to.equal('b!');
  });
});
