import { expect } from 'chai';
import { openStore } from '../../src/store/open.js';
import { chatJson, sse, type Step } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { closeHouse, HELLO, houses, onlyCharge, openHouse } from './helpers/house.js';
import { type House, type Script } from './helpers/house.js';

const STREAM = { ...HELLO, stream: true };
const DRAIN = 'on_abort: drain';
const never = new Promise<void>(() => undefined);

/** A promise and what resolves it. */
function gate(): { promise: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

const delta = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });
const ENDING = [
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 40 } },
  'data: [DONE]\n\n',
];

/** "one two", then what is given; 40 tokens at the end, which only a drained stream tells. */
function talking(after: readonly (string | object | Promise<unknown>)[]): Step {
  return sse([delta('one'), delta(' two'), ...after]);
}

/** Two delivered tokens and the five of the prompt, at our own count. */
const DELIVERED_NANO = -1950n;
const TRUE_NANO = -25_350n;

/** Asks, reads until " two" is here, and goes. */
async function readAndLeave(house: House): Promise<void> {
  const leaving = new AbortController();
  const response = await house.post(STREAM, { signal: leaving.signal });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes(' two')) break;
  }
  leaving.abort();
}

/** Asks, and goes before there is any answer. */
async function askAndLeave(house: House, body: object): Promise<void> {
  const leaving = new AbortController();
  const asking = house.post(body, { signal: leaving.signal });
  const gone = asking.catch(() => undefined);
  await until(() => house.upstream.requests.length === 1, 'the call reaches the upstream');
  leaving.abort();
  await gone;
}

async function closedWhole(house: House): Promise<boolean | undefined> {
  return house.upstream.requests[0]?.closed;
}

describe('who pays when the client leaves', () => {
  const open = houses();

  describe('an upstream that stops billing on abort', () => {
    it('is aborted, and what was delivered is charged', async () => {
      const house = await open(talking([never]));
      await readAndLeave(house);
      expect(await closedWhole(house)).to.equal(false);
      const { amount_nano, estimated } = await onlyCharge(house);
      expect({ amount_nano, estimated }).to.deep.equal({
        amount_nano: DELIVERED_NANO,
        estimated: true,
      });
    });

    const SILENT: [string, Script, object][] = [
      ['has sent nothing', { hold: never }, STREAM],
      ['has sent its head', sse([never]), STREAM],
      ['has sent a role', sse([{ choices: [{ delta: { role: 'assistant' } }] }, never]), STREAM],
      ['works on a JSON answer', { hold: never }, HELLO],
      ['has sent half a JSON answer', { chunks: ['{"choices":', never] }, HELLO],
    ];
    for (const [name, script, body] of SILENT) {
      it(`is aborted when it ${name}, and nothing is charged`, async () => {
        const house = await open(script);
        await askAndLeave(house, body);
        expect(await closedWhole(house)).to.equal(false);
        await house.settled();
        expect(await house.charges()).to.deep.equal([]);
      });
    }
  });

  describe('an upstream that bills on', () => {
    it('is heard out, and its true usage charged', async () => {
      const { promise, open: goOn } = gate();
      const house = await open(talking([promise, delta(' three'), ...ENDING]), { provider: DRAIN });
      await readAndLeave(house);
      goOn();
      const { amount_nano, estimated } = await onlyCharge(house);
      expect({ amount_nano, estimated }).to.deep.equal({
        amount_nano: TRUE_NANO,
        estimated: false,
      });
    });

    it('is heard out when the client left before the first word', async () => {
      const { promise, open: goOn } = gate();
      const house = await open({ ...talking(ENDING), hold: promise }, { provider: DRAIN });
      await askAndLeave(house, STREAM);
      goOn();
      expect((await onlyCharge(house)).amount_nano).to.equal(TRUE_NANO);
    });

    it('is heard out when it works on a JSON answer', async () => {
      const { promise, open: goOn } = gate();
      const house = await open({ ...chatJson('one'), hold: promise }, { provider: DRAIN });
      await askAndLeave(house, HELLO);
      goOn();
      expect((await onlyCharge(house)).amount_nano).to.equal(-4350n);
    });

    it('is heard out through a silence longer than the keep-alive', async () => {
      const { promise, open: goOn } = gate();
      const house = await open(talking([promise, ...ENDING]), {
        provider: DRAIN,
        settings: 'keep_alive: 100ms',
      });
      await readAndLeave(house);
      // The comments that another client gets tell how much time has passed.
      const other = await house.post(STREAM);
      let text = '';
      for await (const chunk of other.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.split(': keep-alive').length === 4) goOn();
      }
      await house.settled();
      const amounts = (await house.charges()).map(({ amount_nano }) => amount_nano);
      expect(amounts).to.deep.equal([TRUE_NANO, TRUE_NANO]);
    });

    it('is left after the limit in time, and what was delivered is charged', async () => {
      const settings = 'limits: { drain: 50ms }';
      const house = await open(talking([never]), { provider: DRAIN, settings });
      await readAndLeave(house);
      expect(await closedWhole(house)).to.equal(false);
      const { amount_nano, estimated } = await onlyCharge(house);
      expect({ amount_nano, estimated }).to.deep.equal({
        amount_nano: DELIVERED_NANO,
        estimated: true,
      });
    });

    const long = 'x'.repeat(1_000);
    const FLOODS: [string, object][] = [
      ['text', delta(long)],
      ['hidden reasoning', { choices: [{ index: 0, delta: { reasoning_content: long } }] }],
      [
        'tool calls',
        { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: long } }] } }] },
      ],
    ];
    for (const [name, flood] of FLOODS) {
      it(`is left after the limit in bytes of ${name}`, async () => {
        const { promise, open: goOn } = gate();
        const packet = `data: ${JSON.stringify(flood)}\n\n`;
        const house = await open(
          async (_, response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            for (const word of ['one', ' two']) {
              response.write(`data: ${JSON.stringify(delta(word))}\n\n`);
            }
            await promise;
            while (!response.destroyed) {
              response.write(packet);
              await new Promise(setImmediate);
            }
          },
          { provider: DRAIN, settings: 'limits: { drain_bytes: 16kb, drain: 1h }' },
        );
        await readAndLeave(house);
        goOn();
        expect(await closedWhole(house)).to.equal(false);
        expect((await onlyCharge(house)).estimated).to.equal(true);
      });
    }

    it('charges what was delivered if it breaks after the client left', async () => {
      const { promise, open: goOn } = gate();
      const script = { ...talking([promise, delta(' three')]), destroyAfter: 3 };
      const house = await open(script, { provider: DRAIN });
      await readAndLeave(house);
      goOn();
      const { amount_nano, estimated } = await onlyCharge(house);
      expect(estimated).to.equal(true);
      expect([DELIVERED_NANO, DELIVERED_NANO - 600n]).to.include(amount_nano);
    });

    it('is heard out before the gateway stops', async () => {
      const { promise, open: goOn } = gate();
      const house = await openHouse(
        { up: talking([promise, ...ENDING]) },
        { provider: DRAIN, settings: '' },
      );
      try {
        await readAndLeave(house);
        const stopped = house.gateway.stop();
        goOn();
        await stopped;
        const store = await openStore(house.gateway.configuration.store, { now: Date.now });
        const entries = await store.ledger(house.account.id, { limit: 10 });
        const { open_holds, faults } = await store.verify();
        await store.close();
        expect({ open_holds, faults }).to.deep.equal({ open_holds: 0, faults: [] });
        expect(entries.map(({ amount_nano }) => amount_nano)).to.include(TRUE_NANO);
      } finally {
        await closeHouse(house).catch(() => undefined);
      }
    });
  });
});
