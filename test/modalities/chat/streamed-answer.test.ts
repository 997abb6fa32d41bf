import { expect } from 'chai';
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { chatSse, type Handler } from '../../helpers/upstream.js';
import { until } from '../../helpers/until.js';
import {
  dataOf,
  HELLO,
  scriptedGateways,
  onlyCharge,
  type ScriptedGateway,
} from '../../money/helpers/scripted-gateway.js';

const STREAM = { ...HELLO, stream: true };
const CHUNK = 'x'.repeat(16 * 1024);
const CHUNKS = 3_000;

interface Progress {
  /** How many chunks have left. */
  sent: number;
  /** Resets the connection. */
  reset(): void;
}

/** A flood of nearly 50 MB, as fast as it is read. */
function flood(): { handler: Handler; progress: Progress } {
  const progress: Progress = { sent: 0, reset: () => undefined };
  const event = `data: ${JSON.stringify({ choices: [{ delta: { content: CHUNK } }] })}\n\n`;
  const handler: Handler = async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.setMaxListeners(0);
    progress.reset = () => void response.socket?.resetAndDestroy();
    while (progress.sent < CHUNKS && !response.destroyed) {
      const isFull = !response.write(event);
      progress.sent += 1;
      if (isFull) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
    response.end('data: {"choices":[{"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
  };
  return { handler, progress };
}

/** Sends a call and answers its response with nothing read of it. */
async function ask(house: ScriptedGateway): Promise<IncomingMessage> {
  const call = request(`${house.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${house.secret}`, 'content-type': 'application/json' },
  });
  call.end(JSON.stringify(STREAM));
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return response;
}

/** Resolves when nothing has moved for many turns in a row. */
async function standstill(progress: { sent: number }): Promise<void> {
  let last = -1;
  let turns = 0;
  const isStill = (): boolean => {
    turns = progress.sent === last && last > 0 ? turns + 1 : 0;
    last = progress.sent;
    return turns > 200 || last === CHUNKS;
  };
  await until(isStill, 'the upstream stands still');
}

describe('the pace of a stream', () => {
  const open = scriptedGateways();

  it('is the pace of its reader, so that nothing piles up in the gateway', async () => {
    const { handler, progress } = flood();
    const house = await open(handler);
    const response = await ask(house);
    await standstill(progress);
    // What is under way is in the buffers of four sockets, far from the whole.
    expect(progress.sent).to.be.lessThan(CHUNKS / 2);
    let bytes = 0;
    let end = '';
    for await (const chunk of response) {
      bytes += (chunk as Buffer).length;
      end = (end + String(chunk)).slice(-100);
    }
    expect(progress.sent).to.equal(CHUNKS);
    expect(bytes).to.be.greaterThan(CHUNKS * CHUNK.length);
    expect(end).to.match(/data: \[DONE\]\n\n$/u);
  });

  it('ends with its reader, when that one disconnects without having read', async () => {
    const { handler, progress } = flood();
    const house = await open(handler);
    const response = await ask(house);
    await standstill(progress);
    response.destroy();
    expect(await house.upstream.requests[0]?.closed).to.equal(false);
    expect((await onlyCharge(house)).estimated).to.equal(true);
    expect(progress.sent).to.be.lessThan(CHUNKS);
  });

  it('is no way to get its text for nothing, until the upstream resets the connection', async () => {
    const { handler, progress } = flood();
    const house = await open(handler);
    const response = await ask(house);
    await standstill(progress);
    progress.reset();
    let end = '';
    for await (const chunk of response) end = (end + String(chunk)).slice(-300);
    expect(end).to.include('upstream_error').and.not.include('[DONE]');
    const { usage, estimated } = await onlyCharge(house);
    expect(estimated).to.equal(true);
    expect(JSON.parse(usage ?? '')).to.include({ completion_tokens: 100 });
  });

  it('carries keep-alive comments while the upstream is silent, and no other difference', async () => {
    let goOn = (): void => undefined;
    const silence = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { headers = {}, chunks = [] } = chatSse(['one', ' two']);
    const slow = { headers, chunks: [...chunks.slice(0, 2), silence, ...chunks.slice(2)] };
    const house = await open(slow, { settings: 'keep_alive: 100ms' });
    const response = await house.post(STREAM);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.split(': keep-alive\n\n').length >= 4) goOn();
    }
    const data = dataOf(text);
    const events = text.replaceAll(': keep-alive\n\n', '');
    expect(events).to.equal(data.map((json) => `data: ${json}\n\n`).join(''));
    expect(data.join('')).to.include('"one"').and.to.include('" two"');
    expect(data.at(-1)).to.equal('[DONE]');
  });

  it('brings each word as it comes, before the next one is there', async () => {
    const gates = [0, 1, 2].map(() => {
      let pass = (): void => undefined;
      const passed = new Promise<void>((resolve) => {
        pass = resolve;
      });
      return { passed, pass };
    });
    const { headers = {}, chunks = [] } = chatSse(['w0', 'w1', 'w2']);
    const paced = gates.flatMap(({ passed }, at) => [chunks[at + 1] ?? '', passed]);
    const house = await open({ headers, chunks: [...paced, ...chunks.slice(4)] });
    const response = await house.post(STREAM);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      // The upstream says the next word only when this one has reached the client.
      gates.forEach(({ pass }, at) => text.includes(`"w${at}"`) && pass());
    }
    expect(dataOf(text).at(-1)).to.equal('[DONE]');
  });
});
