import { expect } from 'chai';
import { CASES } from './cases.js';
import { runCase } from './chaos-run.js';

/** `npm run test:chaos` plays all cases, and for longer. */
const SECONDS = 3;
const SHORT = ['synchronous failover', 'SQLite, killed'];

describe('chaos', () => {
  for (const one of CASES.filter(({ name }) => SHORT.includes(name))) {
    it(`loses, doubles and overspends nothing: ${one.name}`, async function () {
      if (!one.name.startsWith('SQLite') && !process.env.TOLLGATE_TEST_POSTGRES) this.skip();
      const two = { boxes: Math.min(one.boxes, 2), ...(one.args && { args: ['--workers', '2'] }) };
      const { answers, faults } = await runCase({ ...one, ...two }, SECONDS);
      expect(faults).to.deep.equal([]);
      expect(answers).to.be.greaterThan(0);
    });
  }
});
