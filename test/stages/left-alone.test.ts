import { expect } from 'chai';
import { pino } from 'pino';
import type { Upstream } from '../../src/core/model.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { gatewayConnection } from '../../src/http/gateway-connection.js';
import { RequestNotes } from '../../src/pipeline/request-record.js';
import type { Services } from '../../src/pipeline/services.js';
import { UpstreamRests } from '../../src/pipeline/upstream-rests.js';
import type { SendContext, Work } from '../../src/pipeline/work.js';
import { askUpstreams } from '../../src/stages/ask-upstreams.js';
import type { RestStore } from '../../src/store/rests/rests.js';
import { ProviderHealth } from '../../src/telemetry/provider-health.js';
import { connectionError } from '../../src/upstream/connection-error.js';
import { classifyError } from '../../src/upstream/classify-error.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';

const LOG = pino({ level: 'silent' });
const OUTAGE_MS = 600_000;
const FIRST_BYTE_MS = 5_000;
const TICK_MS = 1_000;

/** How the first upstream fails: at once, or after a time. */
interface Failure {
  error: () => UpstreamError;
  after_ms?: number;
  /** The least time between two calls of it, beside the growing rest. */
  apart_ms?: number;
}

const FAILURES: Readonly<Record<string, Failure>> = {
  'refuses connections': {
    error: () =>
      connectionError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'nothing'),
  },
  hangs: {
    error: () => new UpstreamError('timeout', 'Late.', undefined, { reached: 'upstream' }),
    after_ms: FIRST_BYTE_MS,
  },
  'answers 500': { error: () => classifyError(500, {}, '{}') },
  'answers 429 with Retry-After': {
    error: () => classifyError(429, { 'retry-after': '30' }, '{}'),
    apart_ms: 30_000,
  },
  'refuses the key of the gateway': { error: () => classifyError(401, {}, '{}') },
};

/** Calls that wait for a time of the test's own clock. */
class Waits {
  #waits: { until_ms: number; resolve: () => void }[] = [];

  constructor(private readonly now: () => number) {}

  get size(): number {
    return this.#waits.length;
  }

  wait = (ms: number): Promise<void> =>
    new Promise((resolve) => this.#waits.push({ until_ms: this.now() + ms, resolve }));

  pass(): void {
    const over = this.#waits.filter(({ until_ms }) => until_ms <= this.now());
    this.#waits = this.#waits.filter((one) => !over.includes(one));
    for (const { resolve } of over) resolve();
  }
}

/**
 * The store of a process, which counts what is being read or written: the test's clock waits for
 * that, where a real one goes on slowly enough.
 */
class CountedStore {
  pending = 0;

  constructor(private readonly rests: RestStore) {}

  get counted(): RestStore {
    const { rests } = this;
    return {
      list: () => rests.list(),
      exchange: (changes) => this.#count(rests.exchange(changes)),
      claim: (rest, now_ms) => this.#count(rests.claim(rest, now_ms)),
      resume: (provider, by) => rests.resume(provider, by),
      sweep: () => rests.sweep(),
    };
  }

  async #count<Result>(running: Promise<Result>): Promise<Result> {
    this.pending += 1;
    try {
      return await running;
    } finally {
      this.pending -= 1;
    }
  }
}

/** A process that sends calls to a failing upstream, and to one that always answers. */
class CallingProcess {
  readonly #services: Services;
  readonly answers: string[] = [];
  running = 0;

  constructor(
    store: RestStore,
    private readonly upstreams: readonly Upstream[],
    private readonly now: () => number,
    private readonly sendTo: (provider: string) => Promise<void>,
  ) {
    const services = {
      rests: new UpstreamRests({ store, log: LOG, now }),
      health: new ProviderHealth(now),
      log: LOG,
      now,
      random: () => 1,
      pause: () => Promise.resolve(),
    };
    this.#services = services as unknown as Services;
  }

  get resting(): string[] {
    const rests = this.#services.rests.report();
    return rests.map(({ provider, fault }) => `${provider}, as it is ${fault}`);
  }

  async call(): Promise<void> {
    this.running += 1;
    const began_ms = this.now();
    const work: Pick<Work, 'upstreams' | 'send'> = {
      upstreams: this.upstreams,
      send: async ({ provider }) => {
        await this.sendTo(provider.name);
        this.answers.push(`${provider.name} after ${this.now() - began_ms} ms`);
        return { body: () => undefined };
      },
    };
    const context = { client: gatewayConnection(), notes: new RequestNotes() };
    const sending = { ...context, services: this.#services } as unknown as SendContext;
    await askUpstreams(work as Work, sending);
    this.running -= 1;
  }
}

onEachStore('an upstream that fails for ten minutes', (ground) => {
  const upstreams = ['first', 'second'].map((one) =>
    upstreamAt({ ...providerAt('http://127.0.0.1:1'), name: one, retries: 1 }),
  );

  for (const [how, failure] of Object.entries(FAILURES)) {
    it(`${how}, and gets one probe an interval from two processes`, async function () {
      this.timeout(180_000);
      const start_ms = ground.now_ms;
      const now = (): number => ground.now_ms;
      const waits = new Waits(now);
      const asked: number[] = [];
      const sendTo = async (provider: string): Promise<void> => {
        if (provider === 'second') return;
        asked.push(now() - start_ms);
        if (now() - start_ms >= OUTAGE_MS) return;
        if (failure.after_ms) await waits.wait(failure.after_ms);
        throw failure.error();
      };
      const processes: CallingProcess[] = [];
      const stores: CountedStore[] = [];
      for (const { rests } of [await ground.open(), await ground.open()]) {
        const store = new CountedStore(rests);
        stores.push(store);
        processes.push(new CallingProcess(store.counted, upstreams, now, sendTo));
      }
      // Each call has ended, or waits for its upstream, and all that was written is.
      const settle = async (): Promise<void> => {
        const isBusy = (): boolean =>
          processes.reduce((sum, { running }) => sum + running, 0) > waits.size ||
          stores.some(({ pending }) => pending > 0);
        while (isBusy()) await turnOfTheLoop();
      };
      while (now() - start_ms < OUTAGE_MS + 70_000) {
        for (const one of processes) {
          void one.call();
          await settle();
        }
        ground.now_ms += TICK_MS;
        waits.pass();
        await settle();
      }

      const failed = asked.filter((at_ms) => at_ms < OUTAGE_MS);
      // Until the first answer fails, calls that come meanwhile are sent too.
      const together = failed.filter((at_ms) => at_ms <= (failure.after_ms ?? TICK_MS));
      const probes = failed.slice(together.length - 1);
      probes.slice(1).forEach((at_ms, i) => {
        const rest_ms = Math.min(1_000 * 2 ** i, 60_000);
        const apart_ms = Math.max(rest_ms, failure.apart_ms ?? 0);
        expect(at_ms - (probes[i] ?? 0), `probe ${i + 1}`).to.be.at.least(apart_ms);
      });
      expect(probes.length).to.be.within(10, 22);
      const calls = processes.flatMap(({ answers }) => answers);
      expect(calls.length, 'no call has failed').to.equal(
        (processes.length * (OUTAGE_MS + 70_000)) / TICK_MS,
      );
      const late = calls.filter((one) => one.startsWith('second') && !one.endsWith(' 0 ms'));
      const isSlow = failure.after_ms !== undefined;
      expect(late.length, 'calls that waited').to.equal(isSlow ? failed.length : 0);
      // Recovery: within one interval, and a second until the other process knows.
      const back_ms = asked.find((at_ms) => at_ms >= OUTAGE_MS) ?? Infinity;
      expect(back_ms).to.be.at.most(OUTAGE_MS + 60_000 + TICK_MS);
      for (const { answers } of processes) expect(answers.at(-1)).to.equal('first after 0 ms');
    });
  }
});

onEachStore('an upstream that finds one request too large', (ground) => {
  const upstreams = ['first', 'second'].map((one) =>
    upstreamAt({ ...providerAt('http://127.0.0.1:1'), name: one, retries: 1 }),
  );
  const message =
    'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, ' +
    'Requested 37313. The input or output tokens must be reduced in order to run successfully.';
  const body = JSON.stringify({ error: { message, type: 'tokens', code: 'rate_limit_exceeded' } });
  const tooLarge = (): UpstreamError => classifyError(429, { 'retry-after': '30' }, body);

  it('gets the next calls, and the same one is not sent again', async () => {
    const { rests } = await ground.open();
    const failures: (() => UpstreamError)[] = [tooLarge];
    const sendTo = async (provider: string): Promise<void> => {
      const failure = provider === 'first' ? failures.shift() : undefined;
      if (failure) throw failure();
    };
    const caller = new CallingProcess(rests, upstreams, () => ground.now_ms, sendTo);
    for (let call = 1; call <= 2; call += 1) await caller.call();
    expect(caller.answers).to.deep.equal(['second after 0 ms', 'first after 0 ms']);

    expect(caller.resting).to.deep.equal([]);

    // While it rests for another failure, a probe of that size says nothing of it.
    failures.push(() => classifyError(500, {}, '{}'), tooLarge);
    await caller.call();
    ground.now_ms += 1_000;
    await caller.call();
    expect(failures).to.deep.equal([]);
    expect(caller.resting).to.deep.equal(['first, as it is broken']);
  });
});

onEachStore('an upstream that answers one of two processes again', (ground) => {
  const upstreams = ['first', 'second'].map((one) =>
    upstreamAt({ ...providerAt('http://127.0.0.1:1'), name: one, retries: 1 }),
  );

  it('does not rest again for the others, as the second has not heard of it yet', async () => {
    const opened = [await ground.open(), await ground.open()];
    const stores = opened.map(({ rests }) => new CountedStore(rests));
    let isBroken = true;
    const restsSeen: number[] = [];
    const sendTo = async (provider: string): Promise<void> => {
      if (provider === 'first' && isBroken) throw classifyError(500, {}, '{}');
      for (const { rests } of opened.slice(0, 1)) restsSeen.push((await rests.list()).length);
    };
    const callers = stores.map(
      ({ counted }) => new CallingProcess(counted, upstreams, () => ground.now_ms, sendTo),
    );
    const callOf = async (caller: CallingProcess | undefined): Promise<void> => {
      await caller?.call();
      while (stores.some(({ pending }) => pending > 0)) await turnOfTheLoop();
    };
    for (const caller of callers) await callOf(caller);
    isBroken = false;
    ground.now_ms += 5_000;
    for (const caller of callers) await callOf(caller);
    for (const { answers } of callers) expect(answers.at(-1)).to.equal('first after 0 ms');
    expect(restsSeen.slice(-2), 'rests while each of them calls it').to.deep.equal([1, 0]);
  });
});

onEachStore('an upstream that fails while another process takes its probe', (ground) => {
  it('is probed again later', async () => {
    const { rests: stored } = await ground.open();
    let meanwhile = (): void => undefined;
    const store: RestStore = {
      ...stored,
      claim: async (rest, now_ms) => {
        await stored.claim(rest, now_ms);
        meanwhile();
        return await stored.claim(rest, now_ms);
      },
    };
    const rests = new UpstreamRests({ store, log: LOG, now: () => ground.now_ms });
    const upstream = upstreamAt(providerAt('http://127.0.0.1:1'));
    const broken = classifyError(500, {}, '{}');
    rests.ask(upstream, false).failed(broken);
    ground.now_ms += 5_000;
    const late = rests.ask(upstream, false);
    meanwhile = () => late.failed(broken);
    expect(await rests.stateOf(upstream)).to.equal('rests');

    store.claim = (rest, now_ms) => stored.claim(rest, now_ms);
    ground.now_ms += 120_000;
    expect(await rests.stateOf(upstream)).to.equal('probe');
  });
});

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
