import { expect } from 'chai';
import { collectBatch, MAX_BATCH } from '../../../src/store/sqlite/batch-window.js';

describe('gathering', () => {
  let waiting: number[];
  let now_ms: number;

  beforeEach(() => {
    waiting = [1];
    now_ms = 0;
  });

  /** Turns of the event loop until all act; in each, `come` is called before it is looked. */
  const turnsUntil = (come: (turn: number) => void): Promise<number> =>
    new Promise((resolve) => {
      let [turn, isOver] = [0, false];
      const next = (): void => {
        if (isOver) return resolve(turn);
        turn += 1;
        come(turn);
        setImmediate(next);
      };
      setImmediate(next);
      collectBatch(
        waiting,
        () => (isOver = true),
        () => now_ms,
      );
    });

  const some = (count: number) => waiting.push(...Array.from({ length: count }, () => 1));

  it('serves one who comes alone in the next turn', async () => {
    expect(await turnsUntil(() => undefined)).to.equal(1);
    expect(waiting).to.have.length(1);
  });

  it('waits for as long as each turn brings more', async () => {
    expect(await turnsUntil((turn) => turn <= 7 && some(1))).to.equal(8);
    expect(waiting).to.have.length(8);
  });

  it('does not wait for more than go together', async () => {
    expect(await turnsUntil(() => some(MAX_BATCH / 4))).to.equal(4);
    expect(waiting).to.have.length(MAX_BATCH + 1);
  });

  it('keeps nobody for longer than five milliseconds', async () => {
    const turn = await turnsUntil(() => {
      some(1);
      now_ms += 0.5;
    });
    expect(turn).to.equal(10);
  });
});
