import { expect } from 'chai';
import { once } from 'node:events';
import {
  Agent,
  createServer,
  get,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect as connectTo, type AddressInfo } from 'node:net';
import { SseWriter } from '../../src/http/sse-writer.js';
import { until } from '../helpers/until.js';

const HOUR_MS = 3_600_000;
const CHUNK = 'x'.repeat(64 * 1024);

const head = (headers: Record<string, string> = {}) => ({ headers, error: () => '' });

describe('SseWriter', () => {
  let server: Server;
  let response: ServerResponse;
  let client: IncomingMessage;

  /** A response that has begun, and its client, which reads nothing unless told to. */
  async function connect(patience_ms: number): Promise<SseWriter> {
    const { port } = server.address() as AddressInfo;
    const asked = once(server, 'request');
    const answered = once(get({ port, host: '127.0.0.1' }), 'response');
    [, response] = (await asked) as [unknown, ServerResponse];
    const sink = new SseWriter(response, head({ 'x-test': 'yes' }), HOUR_MS, patience_ms);
    response.flushHeaders();
    [client] = (await answered) as [IncomingMessage];
    return sink;
  }

  /** Writes as fast as the sink lets it, until the client is gone or has been sent `most`. */
  function flood(sink: SseWriter, most = Infinity): { sent: number; over: Promise<void> } {
    const flow = { sent: 0, over: Promise.resolve() };
    flow.over = (async () => {
      while (!response.destroyed && flow.sent < most) {
        flow.sent += 1;
        await sink.write(CHUNK);
      }
    })();
    return flow;
  }

  /** Resolves when the buffers on the way are full, so that nothing has moved for many turns. */
  async function standstill(flow: { sent: number }): Promise<void> {
    let last = 0;
    let turns = 0;
    await until(() => {
      turns = flow.sent === last ? turns + 1 : 0;
      last = flow.sent;
      return turns > 100;
    }, 'the sink waits');
  }

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('sends its headers and its texts', async () => {
    const sink = await connect(HOUR_MS);
    const texts = ['one 🚂', 'two', '', 'three 🚂 of them', 'x'.repeat(20_000), 'four'];
    for (const text of texts) void sink.write(text);
    sink.end('five');
    let text = '';
    for await (const chunk of client.setEncoding('utf8')) text += String(chunk);
    expect(text).to.equal(`${texts.join('')}five`);
    expect(client.complete).to.equal(true);
    expect(client.headers['x-test']).to.equal('yes');
  });

  it('sends a client of HTTP/1.0 the text alone, and closes', async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connectTo(port, '127.0.0.1');
    socket.write('GET / HTTP/1.0\r\n\r\n');
    [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    const sink = new SseWriter(response, head(), HOUR_MS, HOUR_MS);
    void sink.write('one');
    void sink.write('two');
    sink.end('three');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text.split('\r\n\r\n')[1]).to.equal('onetwothree');
  });

  it('keeps the order of answers to requests that a client sends at once', async () => {
    const { port } = server.address() as AddressInfo;
    const sinks: SseWriter[] = [];
    server.on('request', (_, res) => sinks.push(new SseWriter(res, head(), HOUR_MS, HOUR_MS)));
    const socket = connectTo(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2));
    await until(() => sinks.length === 2, 'both requests are there');
    // The second answer waits for its turn on the connection.
    for (const word of ['a', 'b', 'c'])
      for (const sink of sinks.toReversed()) void sink.write(word);
    for (const sink of sinks.toReversed()) sink.end('.');
    let text = '';
    socket.setEncoding('latin1').on('data', (data: string) => (text += data));
    const answer = '1\r\na\r\n1\r\nb\r\n1\r\nc\r\n1\r\n.\r\n0\r\n\r\n';
    await until(() => text.split(answer).length === 3 && text.endsWith(answer), 'both are whole');
    socket.destroy();
  });

  it('leaves the connection usable for the next request', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { port } = server.address() as AddressInfo;
    for (const text of ['first', 'second']) {
      const asked = once(server, 'request');
      const answered = once(get({ port, host: '127.0.0.1', agent }), 'response');
      [, response] = (await asked) as [unknown, ServerResponse];
      new SseWriter(response, head(), HOUR_MS, HOUR_MS).end(text);
      [client] = (await answered) as [IncomingMessage];
      let said = '';
      for await (const chunk of client) said += String(chunk);
      expect(said).to.equal(text);
    }
    await until(() => Object.keys(agent.freeSockets).length === 1, 'it is kept');
    agent.destroy();
  });

  it('waits for a client that reads late', async () => {
    const sink = await connect(HOUR_MS);
    const most = 1_000;
    const flow = flood(sink, most);
    await standstill(flow);
    expect(flow.sent).to.be.lessThan(most);
    client.resume();
    await flow.over;
    expect(flow.sent).to.equal(most);
    sink.end('');
  });

  it('disconnects a client that never reads', async () => {
    const sink = await connect(50);
    await flood(sink).over;
    expect(sink.write('more')).to.equal(undefined);
    sink.end('');
    client.resume();
    await until(() => client.destroyed, 'the client sees the end');
    expect(client.complete).to.equal(false);
  });

  it('stops waiting when the client disconnects', async () => {
    const sink = await connect(HOUR_MS);
    const flow = flood(sink);
    await standstill(flow);
    client.destroy();
    await flow.over;
    sink.end('');
  });
});
