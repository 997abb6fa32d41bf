import { expect } from 'chai';
import { once } from 'node:events';
import { ask } from '../helpers/ask.js';
import { startGateway } from '../helpers/gateway.js';
import { rawClient, rawPost } from '../helpers/raw-client.js';
import { until } from '../helpers/until.js';
import { expectShape } from '../helpers/schemas.js';
import { chatJson, sse, startUpstream, type Step } from '../helpers/upstream.js';

const messages = [{ role: 'user', content: 'Hello!' }];
const chunk = (content: string, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

/** A gateway at an upstream that answers with one step. */
async function startWith(step: Step) {
  const upstream = await startUpstream(step);
  const gateway =
    await startGateway(`providers: { up: { uses: openai, base_url: '${upstream.url}', api_key: sk } }
owners: { up: { name: Up } }
models: { m: { owner: up, capabilities: [chat], upstreams: [{ provider: up }], price: free } }
`);
  const close = async (): Promise<void> => {
    await gateway.close();
    await upstream.close();
  };
  return { ...gateway, upstream, close };
}

describe('a malformed request', () => {
  it('writes no 400 into the middle of a running stream', async () => {
    let goOn = (): void => undefined;
    const hold = new Promise<void>((resolve) => (goOn = resolve));
    const at = await startWith(sse([chunk('one'), hold, chunk('two', 'stop'), 'data: [DONE]\n\n']));
    const asked = JSON.stringify({ model: 'm', messages, stream: true });
    const client = rawClient(at.url, rawPost(asked, at));
    await client.until((text) => text.includes('one'));
    client.socket.write('GARBAGE\r\n\r\n');
    const text = await client.closed();
    expect(text.match(/HTTP\/1\.1/gu)).to.have.length(1);
    expect(text)
      .to.match(/^HTTP\/1\.1 200 /u)
      .and.not.include('invalid_request');
    goOn();
    await at.close();
  });

  it('writes no 400 in place of the answer that a request before it waits for', async () => {
    let goOn = (): void => undefined;
    const hold = new Promise<void>((resolve) => (goOn = resolve));
    const at = await startWith({ ...chatJson('Hello!'), hold });
    const client = rawClient(at.url, rawPost(JSON.stringify({ model: 'm', messages }), at));
    await until(() => at.upstream.requests.length === 1, 'it is on its way');
    client.socket.write('GARBAGE\r\n\r\n');
    expect(await client.closed()).to.equal('');
    goOn();
    await at.close();
  });

  it('frees the memory of a pipelined answer whose client has disconnected', async () => {
    let goOn = (): void => undefined;
    const hold = new Promise<void>((resolve) => (goOn = resolve));
    const at = await startWith({ ...chatJson('Hello!'), hold });
    const first = rawPost(JSON.stringify({ model: 'm', messages }), at);
    const second = rawPost(JSON.stringify({ model: 'none', messages, x: 'x'.repeat(60_000) }), at);
    const client = rawClient(at.url, first);
    await until(() => at.upstream.requests.length === 1, 'the first is on its way');
    const alone = at.gateway.in_flight_bytes;
    client.socket.write(second);
    await until(() => at.gateway.in_flight_bytes > alone, 'the second is read');
    client.socket.destroy();
    await until(() => at.gateway.in_flight_bytes === 0, 'all is given back');
    goOn();
    await at.close();
  });

  it('keeps neither memory nor socket for a request with a CONNECT behind it', async () => {
    const at = await startWith(chatJson('Hello!'));
    const first = rawPost(JSON.stringify({ model: 'none', messages, x: 'x'.repeat(60_000) }), at);
    const client = rawClient(at.url, `${first}CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n`);
    await client.until((text) => text.includes('invalid_request'));
    client.socket.destroy();
    await until(() => at.gateway.in_flight_bytes === 0, 'all is given back');
    await at.close();
  });

  it('does not end the process where a client that sent CONNECT resets its socket', async () => {
    const at = await startWith(chatJson('Hello!'));
    const faults: unknown[] = [];
    const note = (error: unknown): void => void faults.push(error);
    const others = process.rawListeners('uncaughtException') as (() => void)[];
    process.removeAllListeners('uncaughtException').on('uncaughtException', note);
    try {
      for (let round = 0; round < 20; round += 1) {
        const { socket } = rawClient(at.url, 'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n');
        await once(socket, 'ready');
        setImmediate(() => socket.resetAndDestroy());
        await once(socket, 'close');
      }
      expect((await ask(at, '/v1/models')).status).to.equal(200);
      expect(faults).to.deep.equal([]);
    } finally {
      process.off('uncaughtException', note);
      for (const other of others) process.on('uncaughtException', other);
      await at.close();
    }
  });

  const refused: [what: string, status: string, text: (secret: string) => string][] = [
    [
      'headers that are too large',
      '431 Request Header Fields Too Large',
      () => `GET /v1/models HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`,
    ],
    [
      'chunk extensions that are too large',
      '413 Payload Too Large',
      (secret) =>
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\n` +
        'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n' +
        `1;${'y'.repeat(70_000)}\r\nx\r\n0\r\n\r\n`,
    ],
    ['garbage', '400 Bad Request', () => 'GARBAGE\r\n\r\n'],
  ];
  for (const [what, status, text] of refused) {
    it(`answers ${status.slice(0, 3)} to ${what}`, async () => {
      const at = await startWith(chatJson('Hello!'));
      const client = rawClient(at.url, text(at.secret));
      const [head = '', body = ''] = (await client.closed()).split('\r\n\r\n');
      expect(head.split('\r\n')[0]).to.equal(`HTTP/1.1 ${status}`);
      expectShape('error', JSON.parse(body));
      await at.close();
    });
  }
});
