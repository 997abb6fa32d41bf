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
const [STEPS, FEW] = [16, 64];
/** Those that a busy account begins in any case at each adjustment. */
const AT_LEAST = 4;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A request with the key of an account, or with one of its further keys. */
const requestOf = (account: string, key = '') => ({
  headers: { authorization: `Bearer ${account}${key}` },
});

/** Notes the name of an account as its request may go on. */
async function note(turn: Promise<void> | undefined, name: string, begun: string[]): Promise<void> {
  if (turn) await turn;
  begun.push(name);
}

/** Begins so many requests of an account, and notes its name for each as it may begin. */
function begin(queue: AdmissionQueue, account: string, count: number, begun: string[]): void {
  for (let at = 0; at < count; at += 1) {
    void note(queue.enter(account, MAX, requestOf(account)), account, begun);
  }
}

/** Lets so many requests of an account go on, and notes its name for each as it may. */
function goOn(queue: AdmissionQueue, account: string, count: number, gone: string[]): void {
  for (let at = 0; at < count; at += 1) void note(queue.goOn(account), account, gone);
}

const countOf = (begun: readonly string[], account: string): number =>
  begun.filter((name) => name === account).length;

/** A queue of an event loop of which requests use `share` of the time. */
function queueWith(clock: { share: number }): AdmissionQueue {
  let now_ms = 0;
  let idle_ms = 0;
  const now = (): number => {
    now_ms += 1;
    idle_ms += 1 - clock.share;
    return now_ms;
  };
  return new AdmissionQueue(now, () => idle_ms);
}

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
    expect(countOf(begun, 'heavy')).to.equal(FEW);
    expect(queue.goOn('light')).to.equal(undefined);
    await nextTurn();
    expect(countOf(begun, 'heavy')).to.be.at.most(FEW + STEPS);
    await until(() => begun.length === 1_006, 'all began, as the event loop idles');
  });

  it('gives accounts with many requests as many turns each, whatever they wait with', async () => {
    const [queue, gone] = [new AdmissionQueue(), [] as string[]];
    begin(queue, 'other', 1, []);
    begin(queue, 'thousand', 1_000, []);
    begin(queue, 'hundreds', 300, []);
    goOn(queue, 'thousand', 900, gone);
    goOn(queue, 'hundreds', 200, gone);
    const before = countOf(gone, 'thousand');
    while (countOf(gone, 'hundreds') < 200) await nextTurn();
    expect(countOf(gone, 'thousand') - before).to.be.within(200 - STEPS, 200 + STEPS);
  });

  it('goes on with the begun requests of an account before it begins others', async () => {
    const [queue, begun] = [queueWith({ share: 0 }), [] as string[]];
    begin(queue, 'other', 1, begun);
    begin(queue, 'heavy', 1_000, begun);
    const before = begun.length;
    // So there is room for others to begin.
    for (let at = 0; at < FEW; at += 1) queue.leave('heavy');
    for (let at = 0; at < 2 * STEPS; at += 1) void note(queue.goOn('heavy'), 'went on', begun);
    await until(() => begun.length > before + 2 * STEPS, 'others begin behind them');
    expect(new Set(begun.slice(before, before + 2 * STEPS))).to.deep.equal(new Set(['went on']));
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

  it('begins one request of a busy account for each that ends, and a few at times', async () => {
    const [queue, begun] = [queueWith({ share: 1 }), [] as string[]];
    begin(queue, 'other', 1, begun);
    begin(queue, 'heavy', FEW + 100, begun);
    expect(countOf(begun, 'heavy')).to.equal(FEW);
    for (let at = 0; at < 5; at += 1) queue.leave('heavy');
    await nextTurn();
    expect(countOf(begun, 'heavy')).to.be.within(FEW + 5, FEW + 5 + AT_LEAST);
    await until(() => begun.length === 1 + FEW + 100, 'all began, although none ends');
  });

  it('begins more while the event loop idles, and fewer once it does not', async () => {
    const clock = { share: 0 };
    const [queue, begun] = [queueWith(clock), [] as string[]];
    begin(queue, 'other', 1, begun);
    begin(queue, 'heavy', 1_000, begun);
    await until(() => begun.length >= 500, 'it may have begun 500 at once');
    clock.share = 1;
    const busy = begun.length;
    await until(() => begun.length >= busy + 40, 'as many adjustments were made');
    const before = begun.length;
    for (let at = 0; at < 100; at += 1) queue.leave('heavy');
    await nextTurn();
    await nextTurn();
    expect(begun.length - before).to.be.at.most(AT_LEAST);
  });

  it('begins all that wait at once when no other account is left', async () => {
    let now_ms = 5_000;
    const queue = new AdmissionQueue(
      () => now_ms,
      () => 0,
    );
    const begun: string[] = [];
    begin(queue, 'other', 1, begun);
    begin(queue, 'heavy', 1_000, begun);
    expect(begun.length).to.equal(1 + FEW);
    queue.leave('other');
    now_ms += 1_000;
    for (let turn = 0; turn < 1_000 / STEPS; turn += 1) {
      queue.leave('heavy');
      await nextTurn();
    }
    expect(begun.length).to.be.at.least(1_000 - 2 * STEPS);
  });

  it('begins all that have entered, and counts until they leave', async () => {
    const accounts = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 4 });
    const share = fc.constantFrom(0, 0.5, 1);
    await fc.assert(
      fc.asyncProperty(accounts, share, async (counts, used) => {
        const [queue, begun] = [queueWith({ share: used }), [] as string[]];
        const all = counts.reduce((sum, count) => sum + count, 0);
        for (const [at, count] of counts.entries()) begin(queue, String(at), count, begun);
        expect(queue.size).to.equal(all);
        for (let ended = 0; ended < all; ended += 1) {
          await until(() => begun.length > ended, 'the next one began');
          queue.leave(begun[ended] ?? '');
        }
        for (const [at, count] of counts.entries()) {
          expect(countOf(begun, String(at))).to.equal(count);
        }
        expect(queue.size).to.equal(0);
      }),
      { numRuns: 30 },
    );
  });

  describe('of requests that arrive', () => {
    /** A queue with an account that has begun all that it may. */
    function busy(): { queue: AdmissionQueue; begun: string[] } {
      const [queue, begun] = [queueWith({ share: 1 }), [] as string[]];
      begin(queue, 'other', 1, begun);
      begin(queue, 'heavy', FEW + 1, begun);
      return { queue, begun };
    }

    it('lets one of an account with many wait before its key is checked', async () => {
      const { queue, begun } = busy();
      const request = requestOf('heavy');
      const turn = queue.arrive(request, MAX);
      void note(turn, 'arrived', begun);
      expect(queue.size).to.equal(1 + FEW + 2);
      expect(queue.arrivalOf(request)).to.be.closeTo(performance.now(), 1_000);
      expect(countOf(begun, 'arrived')).to.equal(0);
      queue.leave('heavy');
      queue.leave('heavy');
      await turn;
      expect(queue.enter('heavy', MAX, request)).to.equal(undefined);
      expect(queue.arrivalOf(request)).to.equal(undefined);
      queue.forget(request);
      expect(queue.size).to.equal(1 + FEW);
    });

    it('handles one with other credentials at once, and does not count it', () => {
      const { queue } = busy();
      const others = [requestOf('light'), requestOf('heavy', '-second'), { headers: {} }];
      for (const request of others) {
        expect(queue.arrive(request, MAX)).to.equal(undefined);
        expect(queue.arrivalOf(request)).to.equal(undefined);
        queue.forget(request);
      }
      expect(queue.size).to.equal(1 + FEW + 1);
    });

    it('counts one no more whose key was refused, or belongs to another account', async () => {
      const { queue } = busy();
      const [refused, moved] = [requestOf('heavy'), requestOf('heavy')];
      void queue.arrive(refused, MAX);
      queue.forget(refused);
      expect(queue.size).to.equal(1 + FEW + 1);
      void queue.arrive(moved, MAX);
      expect(queue.enter('light', MAX, moved)).to.equal(undefined);
      queue.forget(moved);
      expect(queue.size).to.equal(1 + FEW + 2);
      for (let at = 0; at <= FEW; at += 1) queue.leave('heavy');
      queue.leave('light');
      queue.leave('other');
      expect(queue.size).to.equal(0);
    });

    it('notes in the record of one that it has waited', async () => {
      const { queue } = busy();
      const request = requestOf('heavy');
      const turn = queue.arrive(request, MAX);
      for (let at = 0; at < 3; at += 1) queue.leave('heavy');
      await turn;
      const arrived = queue.arrivalOf(request);
      const services = { admissions: queue } as unknown as Services;
      const endpoint = { name: 'chat', stages: [], traits: { records: true } };
      const context = { req: request, state: {} } as unknown as Context;
      await compose(endpoint as unknown as EndpointEntry, new Map(), services)(context);
      expect(arrived).to.be.a('number');
      expect(context.state.notes?.began).to.equal(arrived);
    });

    it('knows credentials no longer than requests with them are in flight', () => {
      const { queue } = busy();
      for (let at = 0; at <= FEW; at += 1) queue.leave('heavy');
      expect(queue.arrive(requestOf('heavy'), MAX)).to.equal(undefined);
    });

    it('keeps few credentials of an account, whatever its clients send', () => {
      const { queue } = busy();
      const keys = Array.from({ length: 2 * FEW }, (_, at) => requestOf('heavy', `-${at}`));
      for (const request of keys) void queue.enter('heavy', MAX, request);
      const known = keys.filter(({ headers }) => {
        const request = { headers };
        const turn = queue.arrive(request, MAX);
        queue.forget(request);
        return turn;
      });
      expect(known.length).to.equal(FEW - 1);
    });

    it('handles all at once when no other account is present', () => {
      const queue = new AdmissionQueue();
      begin(queue, 'heavy', 2 * FEW, []);
      expect(queue.arrive(requestOf('heavy'), MAX)).to.equal(undefined);
      expect(queue.size).to.equal(2 * FEW);
    });

    it('leaves it to the next stage to refuse one too many', () => {
      const { queue } = busy();
      const request = requestOf('heavy');
      expect(queue.arrive(request, 2 * (FEW + 1))).to.equal(undefined);
      expect(() => queue.enter('heavy', 2 * (FEW + 1), request)).to.throw(GatewayError, 'at once');
    });
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
    const req = requestOf('heavy');
    const call = (destroyed: boolean): Promise<void> =>
      run({ req, res: { destroyed }, state: { caller } } as unknown as Context);
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
    const enter = (account: string) => queue.enter(account, 4, requestOf(account));
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
