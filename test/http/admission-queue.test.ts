import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../src/core/errors.js';
import { AdmissionQueue } from '../../src/http/admission-queue.js';
import { chat, completionOf, errorOf } from '../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { rawClient, rawPost, type RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/until.js';

const MAX = 4_000;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Begins so many requests of an account, and notes its name for each as it may begin. */
function begin(queue: AdmissionQueue, account: string, count: number, begun: string[]): void {
  for (let at = 0; at < count; at += 1) {
    const turn = queue.enter(account, MAX);
    if (turn) void turn.then(() => begun.push(account));
    else begun.push(account);
  }
}

describe('AdmissionQueue', () => {
  it('begins each request of an account that is alone at once', () => {
    const begun: string[] = [];
    begin(new AdmissionQueue(), 'one', 1_000, begun);
    expect(begun).to.have.length(1_000);
  });

  it('lets five requests begin before most of the thousand that came first', async () => {
    const [queue, begun] = [new AdmissionQueue(), [] as string[]];
    begin(queue, 'other', 1, begun);
    begin(queue, 'heavy', 1_000, begun);
    begin(queue, 'light', 5, begun);
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    expect(begun.filter((name) => name === 'light')).to.have.length(5);
    expect(begun.length).to.be.below(40);
    await until(() => begun.length === 1_006, 'all began');
  });

  it('begins all that have entered, in turns, and counts until they leave', async () => {
    const accounts = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(accounts, async (entered) => {
        const [queue, begun] = [new AdmissionQueue(), [] as string[]];
        for (const account of entered) begin(queue, account, 1, begun);
        for (let turn = 0; turn < entered.length; turn += 1) await nextTurn();
        expect([...begun].sort()).to.deep.equal([...entered].sort());
        expect(queue.size).to.equal(entered.length);
        for (const account of entered) queue.leave(account);
        expect(queue.size).to.equal(0);
      }),
      { numRuns: 50 },
    );
  });

  it('refuses beyond all requests, and beyond half of them of one account', () => {
    const queue = new AdmissionQueue();
    const enter = (account: string) => queue.enter(account, 4);
    void enter('one');
    void enter('one');
    expect(() => enter('one')).to.throw(GatewayError, 'one account may have at once (2)');
    void enter('two');
    void enter('two');
    expect(() => enter('three')).to.throw(GatewayError, 'the gateway serves at once (4)');
    queue.leave('two');
    queue.leave('nobody');
    expect(() => enter('three')).not.to.throw();
  });
});

describe('limits.in_flight', () => {
  let acme: OpenaiGateway;
  const open: RawClient[] = [];

  before(async () => {
    acme = await startOpenaiGateway({ yaml: 'limits: { in_flight: 4 }' });
  });
  after(async () => {
    for (const { socket } of open) socket.destroy();
    await acme.close();
  });

  it('refuses the third call at once of an account, before its body is read', async () => {
    const body = JSON.stringify({ model: 'acme-chat', messages: [{ role: 'user', content: 'x' }] });
    const waiting = () =>
      rawClient(acme.url, rawPost(body, { secret: acme.secret, length: body.length + 1 }));
    open.push(waiting(), waiting());
    await until(async () => {
      const refused = await chat(acme, 'not even JSON');
      if (refused.status !== 503) return false;
      expect(errorOf(refused).code).to.equal('overloaded');
      expect(refused.headers.get('retry-after')).to.equal('1');
      return true;
    }, 'two are in flight');
    for (const { socket } of open) socket.destroy();
    await until(async () => {
      const answer = await chat(acme, JSON.parse(body));
      if (answer.status === 503) return false;
      completionOf(answer);
      return true;
    }, 'their place is free again');
  });
});
