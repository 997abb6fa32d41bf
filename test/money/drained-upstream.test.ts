import { expect } from 'chai';
import { openStore } from '../../src/store/open.js';
import { chatJson, sse } from '../helpers/upstream.js';
import {
  closeAndAudit,
  HELLO,
  scriptedGateways,
  onlyCharge,
  OUTPUT_NANO,
  startScriptedGateway,
} from './helpers/scripted-gateway.js';
import {
  askAndDisconnect,
  closedWhole,
  DELIVERED_NANO,
  delta,
  DRAIN,
  ENDING,
  expectCharged,
  gate,
  never,
  readAndDisconnect,
  STREAM,
  talking,
  TRUE_NANO,
} from './helpers/disconnecting.js';

describe('when the client disconnects,', () => {
  const open = scriptedGateways();

  describe('an upstream that bills after an abort', () => {
    it('is drained, and its true usage is charged', async () => {
      const { promise, open: goOn } = gate();
      const house = await open(talking([promise, delta(' three'), ...ENDING]), { provider: DRAIN });
      await readAndDisconnect(house);
      goOn();
      await expectCharged(house, { amount_nano: TRUE_NANO, estimated: false });
    });

    it('is drained, also before the first token', async () => {
      const { promise, open: goOn } = gate();
      const house = await open({ ...talking(ENDING), hold: promise }, { provider: DRAIN });
      await askAndDisconnect(house, STREAM);
      goOn();
      expect((await onlyCharge(house)).amount_nano).to.equal(TRUE_NANO);
    });

    const WORDLESS = { choices: [{ index: 0, delta: {}, logprobs: { content: [] } }] };
    for (const [name, script, body] of [
      ['a stream', { hold: never }, STREAM],
      ['the text of a stream', sse([WORDLESS, never]), STREAM],
      ['a JSON answer', { hold: never }, HELLO],
    ] as const) {
      it(`is not free to a client that leaves before ${name}, if that takes too long`, async () => {
        const settings = 'limits: { drain: 50ms }';
        const house = await open(script, { provider: DRAIN, settings });
        await askAndDisconnect(house, body);
        expect(await closedWhole(house)).to.equal(false);
        // The prompt, which the upstream has read.
        await expectCharged(house, {
          amount_nano: DELIVERED_NANO + 2n * OUTPUT_NANO,
          estimated: true,
        });
      });
    }

    it('is free if it fails after its client has left', async () => {
      const { promise, open: goOn } = gate();
      const house = await open({ hold: promise, status: 500 }, { provider: DRAIN });
      await askAndDisconnect(house, HELLO);
      goOn();
      await house.settled();
      expect(await house.charges()).to.deep.equal([]);
    });

    it('is drained while it works on a JSON answer', async () => {
      const { promise, open: goOn } = gate();
      const house = await open({ ...chatJson('one'), hold: promise }, { provider: DRAIN });
      await askAndDisconnect(house, HELLO);
      goOn();
      expect((await onlyCharge(house)).amount_nano).to.equal(-4350n);
    });

    it('is drained through a silence longer than the keep-alive', async () => {
      const { promise, open: goOn } = gate();
      const house = await open(talking([promise, ...ENDING]), {
        provider: DRAIN,
        settings: 'keep_alive: 100ms',
      });
      await readAndDisconnect(house);
      // The comments that another client gets tell how much time has passed.
      const other = await house.post(STREAM);
      let text = '';
      for await (const chunk of other.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.split(': keep-alive').length >= 4) goOn();
      }
      await house.settled();
      const amounts = (await house.charges()).map(({ amount_nano }) => amount_nano);
      expect(amounts).to.deep.equal([TRUE_NANO, TRUE_NANO]);
    });

    it('is aborted after the time limit, and the delivered tokens are charged', async () => {
      const settings = 'limits: { drain: 50ms }';
      const house = await open(talking([never]), { provider: DRAIN, settings });
      await readAndDisconnect(house);
      expect(await closedWhole(house)).to.equal(false);
      await expectCharged(house, { amount_nano: DELIVERED_NANO, estimated: true });
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
      it(`is aborted after the byte limit of ${name}`, async () => {
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
        await readAndDisconnect(house);
        goOn();
        expect(await closedWhole(house)).to.equal(false);
        expect((await onlyCharge(house)).estimated).to.equal(true);
      });
    }

    it('breaks after the client disconnects: the delivered tokens are charged', async () => {
      const { promise, open: goOn } = gate();
      const script = { ...talking([promise, delta(' three')]), destroyAfter: 3 };
      const house = await open(script, { provider: DRAIN });
      await readAndDisconnect(house);
      goOn();
      const { amount_nano, estimated } = await onlyCharge(house);
      expect(estimated).to.equal(true);
      expect([DELIVERED_NANO, DELIVERED_NANO - 600n]).to.include(amount_nano);
    });

    it('is drained before the gateway stops', async () => {
      const { promise, open: goOn } = gate();
      const house = await startScriptedGateway(
        { up: talking([promise, ...ENDING]) },
        { provider: DRAIN, settings: '' },
      );
      try {
        await readAndDisconnect(house);
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
        await closeAndAudit(house).catch(() => undefined);
      }
    });
  });
});
