import { expect } from 'chai';
import { sse } from '../helpers/upstream.js';
import { HELLO, scriptedGateways, onlyCharge, type Script } from './helpers/scripted-gateway.js';
import {
  askAndDisconnect,
  closedWhole,
  DELIVERED_NANO,
  delta,
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

  describe('an upstream that stops billing on abort', () => {
    const MOMENT = 'limits: { linger: 50ms }';

    it('is aborted after limits.linger, and the delivered tokens are charged', async () => {
      const gateway = await open(talking([never]), { settings: MOMENT });
      await readAndDisconnect(gateway);
      expect(await closedWhole(gateway)).to.equal(false);
      await expectCharged(gateway, { amount_nano: DELIVERED_NANO, estimated: true });
    });

    it('is read until limits.linger, and its true usage is charged', async () => {
      const { promise, open: goOn } = gate();
      const gateway = await open(talking([promise, delta(' three'), ...ENDING]), {
        settings: 'limits: { linger: 30s }',
      });
      await readAndDisconnect(gateway);
      goOn();
      await expectCharged(gateway, { amount_nano: TRUE_NANO, estimated: false });
    });

    it('is aborted after limits.linger_bytes', async () => {
      const { promise, open: goOn } = gate();
      const flood = Array.from({ length: 64 }, () => delta('x'.repeat(1_000)));
      const gateway = await open(talking([promise, ...flood, never]), {
        settings: 'limits: { linger: 30s, linger_bytes: 16kb }',
      });
      await readAndDisconnect(gateway);
      goOn();
      expect(await closedWhole(gateway)).to.equal(false);
      expect((await onlyCharge(gateway)).estimated).to.equal(true);
    });

    it('charges nothing that is made after its client has gone', async () => {
      const { promise, open: goOn } = gate();
      const more = delta(' more'.repeat(500));
      const gateway = await open(talking([promise, more, never]), {
        settings: 'limits: { linger: 30s, linger_bytes: 1kb }',
      });
      await readAndDisconnect(gateway);
      // Answers to others say that the gateway has noticed.
      for (let i = 0; i < 3; i += 1) await (await fetch(`${gateway.url}/healthz`)).text();
      goOn();
      expect((await onlyCharge(gateway)).amount_nano).to.equal(DELIVERED_NANO);
    });

    it('charges a long prompt in full, whatever its beginning is', async () => {
      const gateway = await open(talking([never]), { settings: MOMENT });
      const content = 'a'.repeat(20_000) + 'The fox jumps. '.repeat(20_000);
      const messages = [{ role: 'user', content }];
      await readAndDisconnect(gateway, { ...STREAM, messages });
      const { usage } = await onlyCharge(gateway);
      const { prompt_tokens } = JSON.parse(usage ?? '') as { prompt_tokens: number };
      // Four tokens for each of the jumps, and some for the letters.
      expect(prompt_tokens).to.be.within(75_000, 95_000);
    });

    it('charges the text that waited for a tool call to end when its client left', async () => {
      const call = { index: 0, id: 'c', function: { name: 'look', arguments: '{"city":' } };
      const events = [{ choices: [{ delta: { tool_calls: [call] } }] }, delta('word '.repeat(50))];
      const packet = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      const gateway = await open(talking([packet, never]), { settings: MOMENT });
      const leaving = new AbortController();
      const tools = [{ name: 'look', input_schema: { type: 'object' } }];
      const response = await fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': gateway.secret, 'content-type': 'application/json' },
        body: JSON.stringify({ ...STREAM, max_tokens: 100, tools }),
        signal: leaving.signal,
      });
      let text = '';
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes('city')) break;
      }
      leaving.abort();
      expect(text).not.to.include('word');
      const { usage } = await onlyCharge(gateway);
      const { completion_tokens } = JSON.parse(usage ?? '') as { completion_tokens: number };
      expect(completion_tokens).to.be.greaterThan(50);
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
        const gateway = await open(script);
        await askAndDisconnect(gateway, body);
        expect(await closedWhole(gateway)).to.equal(false);
        await gateway.settled();
        expect(await gateway.charges()).to.deep.equal([]);
      });
    }
  });
});
