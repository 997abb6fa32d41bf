import { expect } from 'chai';
import fc from 'fast-check';
import type { EndpointEntry } from '../../src/core/configuration.js';
import { ClientDisconnected, GatewayError } from '../../src/core/errors.js';
import type { Caller } from '../../src/core/model.js';
import { AdmissionQueue } from '../../src/http/admission-queue.js';
import type { Services } from '../../src/pipeline/services.js';
import { compose, type Context, type Stage } from '../../src/pipeline/stage.js';
import { chat, completionOf, errorOf } from '../helpers/ask.js';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { rawClient, rawPost, type RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/until.js';

const MAX = 8_000;
/** The most that go on in one turn, of accounts with more requests than go on at once. */
const [STEPS, FEW] = [16, 128];

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Notes the name of an account as its request may go on. */
async function note(turn: Promise<void> | undefined, name: string, begun: string[]): Promise<void> {
  if (turn) await turn;
  begun.push(name);
}

/** Begins so many requests of an account, and notes its name for each as it may begin. */
function begin(queue: AdmissionQueue, account: string, count: number, begun: string[]): void {
  for (let at = 0; at < count; at += 1) void note(queue.enter(account, MAX), account, begun);
}

const countOf = (begun: readonly string[], account: string): number =>
  begun.filter((name) => name === account).length;

describe('AdmissionQueue', () => {
  it('begins each request of an account that is alone at once', () => {
    const begun: string[] = [];
    begin(new AdmissionQueue(), 'one', 1_000, begun);
    expect(begun).to.have.length(1_000);
  });

  it('begins and goes on with five requests at once beside a thousand that came first', async () => {
    const [queue, begun] = [new AdmissionQueue(), [] as string[]];
    begin(queue, 'other', 1, begun);
    begin(queue, 'heavy', 1_000, begun);
    begin(queue, 'light', 5, begun);
    expect(countOf(begun, 'light')).to.equal(5);
    expect(countOf(begun, 'heavy')).to.equal(FEW + STEPS);
    expect(queue.goOn('light')).to.equal(undefined);
    await nextTurn();
    expect(countOf(begun, 'heavy')).to.be.at.most(FEW + 2 * STEPS);
    await until(() => begun.length === 1_006, 'all began');
  });

  it('gives accounts with many requests as many turns each, whatever they wait with', async () => {
    const [queue, begun] = [new AdmissionQueue(), [] as string[]];
    begin(queue, 'other', 1, begun);
    begin(queue, 'thousand', 1_000, begun);
    begin(queue, 'hundreds', FEW + 200, begun);
    const before = countOf(begun, 'thousand');
    while (countOf(begun, 'hundreds') < FEW + 200) await nextTurn();
    expect(countOf(begun, 'thousand') - before).to.be.within(200 - STEPS, 200 + STEPS);
  });

  it('goes on with the begun requests of an account before it begins others', async () => {
    const [queue, begun] = [new AdmissionQueue(), [] as string[]];
    begin(queue, 'other', 1, begun);
    begin(queue, 'heavy', 1_000, begun);
    for (let at = 0; at < STEPS; at += 1) void note(queue.goOn('heavy'), 'went on', begun);
    await until(() => begun.length === 1_001 + STEPS, 'all went on');
    const after = FEW + STEPS + 1;
    expect(new Set(begun.slice(after, after + STEPS))).to.deep.equal(new Set(['went on']));
  });

  it('keeps turns short a second after the last sign of another account', () => {
    let now_ms = 5_000;
    const [queue, begun] = [new AdmissionQueue(() => now_ms), [] as string[]];
    /** Whether one more step than a turn has room for must wait. */
    const waits = () =>
      Array.from({ length: STEPS + 1 }, () => queue.goOn('heavy')).some((turn) => turn);
    begin(queue, 'heavy', 1_000, begun);
    expect(waits()).to.equal(false);
    begin(queue, 'light', 1, begun);
    queue.leave('light');
    now_ms += 1_000;
    expect(waits()).to.equal(false);
    queue.expectOther();
    now_ms += 999;
    expect(waits()).to.equal(true);
  });

  it('begins all that have entered, in turns, and counts until they leave', async () => {
    const accounts = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(accounts, async (counts) => {
        const [queue, begun] = [new AdmissionQueue(), [] as string[]];
        for (const [at, count] of counts.entries()) begin(queue, String(at), count, begun);
        const all = counts.reduce((sum, count) => sum + count, 0);
        for (let turn = 0; turn <= all / STEPS; turn += 1) await nextTurn();
        await nextTurn();
        for (const [at, count] of counts.entries()) {
          expect(countOf(begun, String(at))).to.equal(count);
        }
        expect(queue.size).to.equal(all);
        for (const account of begun) queue.leave(account);
        expect(queue.size).to.equal(0);
      }),
      { numRuns: 50 },
    );
  });

  it('begins nothing for a client that has left while its request waited', async () => {
    const [queue, begun] = [new AdmissionQueue(), [] as string[]];
    const caller = { account_id: 'heavy' } as Caller;
    const stages: Stage[] = [
      { name: 'auth', shape: { needs: [], gives: ['caller'] }, create: () => (_, next) => next() },
      {
        name: 'work',
        shape: { needs: [], gives: [] },
        create: () => () => void begun.push('work'),
      },
    ];
    const endpoint = { name: 'chat', stages: stages.map(({ name }) => ({ name })) };
    const services = { admissions: queue, configuration: { limits: { in_flight: MAX } } };
    const run = compose(
      endpoint as unknown as EndpointEntry,
      new Map(stages.map((stage) => [stage.name, stage])),
      services as unknown as Services,
    );
    begin(queue, 'other', 1, begun);
    begin(queue, 'heavy', FEW + STEPS, begun);
    const call = (destroyed: boolean): Promise<void> =>
      run({ res: { destroyed }, state: { caller } } as unknown as Context);
    const [leaves, stays] = [call(true), call(false)];
    const { size } = queue;
    await stays;
    const error = await leaves.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ClientDisconnected);
    expect(countOf(begun, 'work')).to.equal(1);
    expect(queue.size).to.equal(size - 2);
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
