import { expect } from 'chai';
import { ATTEMPTS, codeOf, outageWait_ms, withRetry, wait_ms } from '../../src/store/retry.js';
import { refusal } from './helpers/ground.js';

const ifBusy = (error: unknown) => (codeOf(error) === 'SQLITE_BUSY' ? 1 : undefined);

function fault(code: unknown): Error {
  return Object.assign(new Error('fault'), { code });
}

describe('withRetry', () => {
  it('tries again until the fault has passed', async () => {
    let tries = 0;
    const value = await withRetry(ifBusy, async () => {
      if (++tries < 4) throw fault('SQLITE_BUSY');
      return 'done';
    });
    expect([value, tries]).to.deep.equal(['done', 4]);
  });

  it('gives up at once where the fault will not pass', async () => {
    let tries = 0;
    const work = () => {
      tries++;
      throw fault('SQLITE_FULL');
    };
    expect(await refusal(withRetry(ifBusy, work))).to.equal('Error: fault');
    expect(tries).to.equal(1);
  });

  it('waits a little longer each time, and never long', () => {
    for (const attempt of [1, 5, ATTEMPTS]) {
      const waits = Array.from({ length: 200 }, () => wait_ms(attempt));
      expect(Math.min(...waits)).to.be.at.least(0);
      expect(Math.max(...waits)).to.be.at.most(Math.min(attempt, 16));
    }
  });
});

describe('outageWait_ms', () => {
  it('does not try a server that refuses connections hundreds of times a second', () => {
    const waits = (random: number) =>
      Array.from({ length: 7 }, (_, at) => outageWait_ms(at + 1, () => random));
    expect(waits(0)).to.deep.equal([50, 100, 200, 400, 800, 1_000, 1_000]);
    expect(waits(1)).to.deep.equal([100, 200, 400, 800, 1_600, 2_000, 2_000]);
  });
});

describe('codeOf', () => {
  const codes: [unknown, string][] = [
    [fault('40001'), '40001'],
    [fault(7), ''],
    [new Error('none'), ''],
    ['SQLITE_BUSY', ''],
    [undefined, ''],
  ];
  for (const [error, code] of codes) {
    it(`reads ${JSON.stringify(code)} from ${String(error)}`, () => {
      expect(codeOf(error)).to.equal(code);
    });
  }
});
