import { expect } from 'chai';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { WebSocket } from 'ws';
import { checkOrThrow } from '../../src/gateway/gateway.js';
import { rawClient } from '../helpers/raw-client.js';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { idIn, openSocket, type Frame } from '../helpers/socket-client.js';
import { until } from '../helpers/until.js';
import { chatSse, sse } from '../helpers/upstream.js';
import { delta, gate } from '../money/helpers/disconnecting.js';

const MODELS = `
  talk: { owner: acme, capabilities: [chat, tools], upstreams: [{ provider: up }], price: { input_per_million: 1, output_per_million: 2 } }`;
/** What an answer of two words costs: 9 tokens in, 2 out. */
const TURN_NANO = 13_000n;
const TURN = { model: 'talk', store: false, input: 'Hello' };
const DONE = [
  delta(' two'),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 2 } },
  'data: [DONE]\n\n',
];

const isOutput = ({ type }: Frame): boolean => type === 'response.output_text.delta';
const isEnd = ({ type }: Frame): boolean => type === 'response.completed';
const errorIn = ({ error }: Frame) => error as Record<string, unknown>;

/** Resolves with the status of a refused handshake. */
async function refused(
  gateway: { url: string; secret: string },
  { path = '/v1/responses', headers = {} }: { path?: string; headers?: object } = {},
): Promise<number | undefined> {
  const ws = new WebSocket(gateway.url.replace(/^http/u, 'ws') + path, {
    headers: { authorization: `Bearer ${gateway.secret}`, ...headers },
  });
  ws.on('error', () => undefined);
  const [, answer] = (await once(ws, 'unexpected-response')) as [unknown, { statusCode?: number }];
  ws.terminate();
  return answer.statusCode;
}

describe('Responses over a WebSocket', () => {
  let gateway: PaidGateway;

  before(async () => {
    gateway = await startPaidGateway(MODELS, {
      settings:
        'cors: [https://app.example.com]\nkeep_alive: 100ms\nlimits: { body: 64kb, account_sockets: 3, linger: 0s }',
      provider: 'on_abort: abort',
    });
  });
  beforeEach(() => (gateway.step = chatSse(['Good', ' day'])));
  after(() => gateway.close());

  /** Changes gateway.yaml while the gateway runs. */
  async function edit(from: string, to: string): Promise<void> {
    const yaml = await readFile(gateway.file, 'utf8');
    await writeFile(gateway.file, yaml.replace(from, to));
    gateway.gateway.reload(await checkOrThrow(gateway.file, {}));
  }

  for (const path of ['/v1/responses', '/openai/v1/responses']) {
    it(`serves turns at ${path} that continue each other with store: false`, async () => {
      const before = (await gateway.charged()).length;
      const client = await openSocket(gateway, { path });
      const first = await client.turn({ ...TURN, input: 'One' });
      expect(client.frames.map(({ type }) => type)).to.include('response.output_text.delta');
      const second = await client.turn({
        ...TURN,
        previous_response_id: idIn(first),
        input: [{ role: 'user', content: 'Two' }],
      });
      const third = await client.turn({
        ...TURN,
        previous_response_id: idIn(second),
        input: 'Three',
      });
      expect(third.type).to.equal('response.completed');
      expect(gateway.upstream.requests.at(-1)?.json).to.have.deep.property('messages', [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Good day' },
        { role: 'user', content: 'Two' },
        { role: 'assistant', content: 'Good day' },
        { role: 'user', content: 'Three' },
      ]);
      expect((await gateway.charged()).slice(before)).to.deep.equal([
        TURN_NANO,
        TURN_NANO,
        TURN_NANO,
      ]);
      client.ws.close();
    });
  }

  it('asks and charges nothing for generate: false, whose items the next turn has', async () => {
    const before = [gateway.upstream.requests.length, (await gateway.charged()).length];
    const client = await openSocket(gateway);
    const warm = await client.turn({ ...TURN, input: 'Early', generate: false });
    expect(warm).to.have.nested.property('response.status', 'completed');
    expect([gateway.upstream.requests.length, (await gateway.charged()).length]).to.deep.equal(
      before,
    );
    await client.turn({ ...TURN, previous_response_id: idIn(warm), input: [] });
    expect(gateway.upstream.requests.at(-1)?.json).to.have.deep.property('messages', [
      { role: 'user', content: 'Early' },
    ]);
    client.ws.close();
  });

  it('says previous_response_not_found for an answer of another socket, and goes on', async () => {
    const [one, other] = [await openSocket(gateway), await openSocket(gateway)];
    const first = await one.turn(TURN);
    const lost = await other.turn({ ...TURN, previous_response_id: idIn(first) });
    expect(lost).to.include({ type: 'error', status: 400 });
    expect(errorIn(lost)).to.include({
      code: 'previous_response_not_found',
      param: 'previous_response_id',
      type: 'invalid_request_error',
    });
    expect((await other.turn(TURN)).type).to.equal('response.completed');
    for (const { ws } of [one, other]) ws.close();
  });

  it('runs lanes at once and the turns of a lane in turn, each frame with its lane', async () => {
    const { promise, open } = gate();
    gateway.step = sse([delta('one'), promise, ...DONE]);
    const client = await openSocket(gateway);
    client.create({ ...TURN, stream_id: 'a' });
    client.create({ ...TURN, stream_id: 'a', input: 'Again' });
    client.create({ ...TURN, stream_id: 'b' });
    for (const lane of ['a', 'b']) {
      await client.next((frame) => isOutput(frame) && frame.stream_id === lane);
    }
    const begun = client.frames.filter(({ type }) => type === 'response.created');
    expect(begun.map(({ stream_id }) => stream_id)).to.have.members(['a', 'b']);
    open();
    for (const lane of ['a', 'a', 'b']) {
      await client.next((frame) => isEnd(frame) && frame.stream_id === lane);
    }
    client.ws.close();
  });

  it('refuses the 17th lane at once, and the others go on', async () => {
    const { promise, open } = gate();
    gateway.step = sse([delta('one'), promise, ...DONE]);
    const client = await openSocket(gateway);
    for (let lane = 0; lane < 17; lane += 1) client.create({ ...TURN, stream_id: `lane ${lane}` });
    const refusal = await client.next(({ type }) => type === 'error');
    expect(refusal).to.include({ status: 429, stream_id: 'lane 16' });
    open();
    for (let lane = 0; lane < 16; lane += 1) await client.next(isEnd);
    client.ws.close();
  });

  it('ends a turn on response.cancel as if its client had left, and serves the next', async () => {
    gateway.step = sse([delta('one'), new Promise(() => undefined)]);
    const client = await openSocket(gateway);
    client.create({ ...TURN, stream_id: 'a' });
    const begun = await client.next(({ type }) => type === 'response.created');
    await client.next(isOutput);
    client.ws.send(JSON.stringify({ type: 'response.cancel', response_id: idIn(begun) }));
    const end = await client.next(({ type }) => type === 'response.cancelled');
    expect(end).to.deep.include({ stream_id: 'a' });
    expect(end).to.have.nested.property('response.status', 'cancelled');
    expect(await gateway.upstream.requests.at(-1)?.closed).to.equal(false);
    gateway.step = chatSse(['Good', ' day']);
    client.create({ ...TURN, stream_id: 'a' });
    await client.next(isEnd);
    client.ws.send('{"type":"response.cancel","stream_id":"a"}');
    expect(await client.next(({ type }) => type === 'error')).to.include({ status: 400 });
    client.ws.close();
  });

  for (const [name, frame] of [
    ['no JSON', '{"type":'],
    ['no object', '[1]'],
    ['an unknown type', '{"type":"response.sing"}'],
    ['no type', '{"model":"talk"}'],
    ['a stream_id that is none', '{"type":"response.create","stream_id":7}'],
    ['bytes', Buffer.from('{"type":"response.create"}')],
    ['deep nesting', `{"type":"response.create","input":${'['.repeat(70_000 / 2)}`],
    ['no input', '{"type":"response.create","model":"talk"}'],
    ['an input that is none', '{"type":"response.create","model":"talk","input":7}'],
    ['an unknown model', '{"type":"response.create","model":"none","input":"Hi"}'],
    ['background', '{"type":"response.create","model":"talk","input":"Hi","background":true}'],
  ] as const) {
    it(`answers a frame with ${name} by an error, and serves the next`, async () => {
      const client = await openSocket(gateway);
      client.ws.send(frame);
      const refusal = await client.next(({ type }) => type === 'error');
      expect(refusal).to.include({ status: 400 });
      expect(errorIn(refusal).message).to.be.a('string').and.not.equal('');
      expect((await client.turn(TURN)).type).to.equal('response.completed');
      client.ws.close();
    });
  }

  it('closes by 1009 on a frame above limits.body', async () => {
    const client = await openSocket(gateway);
    client.create({ ...TURN, input: 'x'.repeat(70_000) });
    expect(await client.closed).to.equal(1009);
  });

  it('tells a rate that is used up by its status, with Retry-After', async () => {
    const { secret } = await gateway.gateway.store.createKey(gateway.account.id, 'slow', {
      rates: { requests_per_minute: 1 },
    });
    const client = await openSocket({ ...gateway, secret });
    await client.turn(TURN);
    const limited = await client.turn(TURN);
    expect(limited).to.include({ type: 'error', status: 429 });
    expect(errorIn(limited)).to.include({ code: 'rate_limited' });
    expect(limited).to.have.nested.property('headers.retry-after');
    client.ws.close();
  });

  it('refuses the handshake of a wrong key by 401, and of a foreign page by 403', async () => {
    expect(await refused({ ...gateway, secret: 'tg-wrong' })).to.equal(401);
    expect(await refused(gateway, { headers: { origin: 'https://evil.example.com' } })).to.equal(
      403,
    );
    const client = await openSocket(gateway, { headers: { origin: 'https://app.example.com' } });
    client.ws.close();
    await client.closed;
  });

  it('says 426 where no WebSocket is served, where one is too many, and where all are', async () => {
    expect(await refused(gateway, { path: '/v1/responses/input_tokens' })).to.equal(426);
    const clients = [];
    for (let count = 0; count < 3; count += 1) clients.push(await openSocket(gateway));
    expect(await refused(gateway)).to.equal(426);
    for (const { ws, closed } of clients) {
      ws.close();
      await closed;
    }
    await edit('account_sockets: 3', 'account_sockets: 3, sockets: 0');
    expect(await refused(gateway)).to.equal(426);
    await edit('account_sockets: 3, sockets: 0', 'account_sockets: 3');
  });

  it('cuts off a client that answers no ping within limits.client', async () => {
    await edit('account_sockets: 3', 'account_sockets: 3, client: 200ms');
    const client = await openSocket(gateway);
    let pings = 0;
    client.ws.on('ping', () => (pings += 1));
    const silent = await openSocket(gateway, { answersPings: false });
    expect(await silent.closed).to.equal(1006);
    expect(pings).to.be.greaterThan(1);
    expect((await client.turn(TURN)).type).to.equal('response.completed');
    client.ws.close();
    await edit('account_sockets: 3, client: 200ms', 'account_sockets: 3');
  });

  it('asks an upstream no further for a client that reads nothing', async () => {
    await edit('account_sockets: 3', 'account_sockets: 3, client: 200ms');
    const large = delta('x'.repeat(64 * 1024));
    gateway.step = sse([delta('one'), ...Array.from({ length: 400 }, () => large), ...DONE]);
    const client = await openSocket(gateway);
    const before = gateway.upstream.requests.length;
    client.create(TURN);
    await client.next(isOutput);
    client.ws.pause();
    expect(await gateway.upstream.requests[before]?.closed).to.equal(false);
    client.ws.terminate();
    await edit('account_sockets: 3, client: 200ms', 'account_sockets: 3');
  });

  it('waited for a client that reads nothing before it could stop', async () => {
    const settings = 'drain: 100ms\nlimits: { client: 1h }';
    const other = await startPaidGateway(MODELS, { settings });
    const large = delta('x'.repeat(64 * 1024));
    other.step = sse([delta('one'), ...Array.from({ length: 400 }, () => large), ...DONE]);
    const client = await openSocket(other);
    client.create(TURN);
    await client.next(isOutput);
    client.ws.pause();
    await other.close();
    client.ws.terminate();
  });

  it('opened a WebSocket while the gateway stopped, for which the stop waited', async () => {
    const settings = 'drain_delay: 1ms\ndrain: 1h';
    const other = await startPaidGateway(MODELS, { settings });
    const handshake =
      `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${other.secret}\r\n` +
      'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    const client = rawClient(other.url, handshake);
    await once(client.socket, 'connect');
    const stopped = other.close();
    const isClosed = (): Promise<boolean> =>
      fetch(other.url, { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      );
    await until(isClosed, 'it takes no more connections');
    client.socket.write('\r\n');
    await client.until((text) => text.startsWith('HTTP/1.1 426 '));
    await stopped;
  });

  it('serves a page of public_url itself, which cors need not name', async () => {
    const other = await startPaidGateway(MODELS, { settings: 'public_url: http://0.0.0.0:80' });
    const client = await openSocket(other, { headers: { origin: 'http://0.0.0.0' } });
    client.ws.close();
    await client.closed;
    await other.close();
  });

  it('says 426 to one connection as often as it asks', async () => {
    const handshake =
      'GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n' +
      'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    const client = rawClient(gateway.url, handshake);
    for (let time = 1; time <= 15; time += 1) {
      await client.until((text) => text.split('426 Upgrade Required').length > time);
      client.socket.write(handshake);
    }
    client.socket.destroy();
    process.off('warning', note);
    expect(warnings).to.deep.equal([]);
  });

  it('closes after socket_age by 1012, with the error that clients retry', async () => {
    await edit('account_sockets: 3', 'account_sockets: 3, socket_age: 1s');
    const client = await openSocket(gateway);
    const told = await client.next(({ type }) => type === 'error');
    expect(errorIn(told)).to.include({ code: 'websocket_connection_limit_reached' });
    expect(await client.closed).to.equal(1012);
    await edit('account_sockets: 3, socket_age: 1s', 'account_sockets: 3');
  });
});
