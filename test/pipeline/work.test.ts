import { expect } from 'chai';
import type { Bill } from '../../src/billing/bill.js';
import type { PaidAnswer } from '../../src/pipeline/work.js';

const BILL: Bill = {
  usage: { prompt_tokens: 1, completion_tokens: 1 },
  cost_nano: 1n,
  estimated: false,
};
const head = { provider: 'acme', streams: false, close: () => undefined };
const finish = (): Promise<Bill> => Promise.resolve(BILL);
const body = (): object => ({});

/** The compiler reads this file with the tests: an error that is expected and missing fails it. */
describe('the types of a paid answer', () => {
  it('compiles with a bill and a body', async () => {
    const answer: PaidAnswer = { ...head, finish, body };
    expect(await answer.finish()).to.equal(BILL);
  });

  it('does not compile without a bill', () => {
    // @ts-expect-error it must end with a bill
    const unbilled: PaidAnswer = { ...head, body, finish: () => Promise.resolve() };
    // @ts-expect-error it must end
    const endless: PaidAnswer = { ...head, body };
    expect([unbilled, endless]).to.have.length(2);
  });

  it('does not compile without a body', () => {
    // @ts-expect-error it must say what its client gets
    const silent: PaidAnswer = { ...head, finish };
    expect(silent).to.not.have.property('body');
  });
});
