import { expect } from 'chai';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { GatewayError } from '../../src/core/errors.js';
import { SocketSession } from '../../src/gateway/socket-session.js';
import { until } from '../helpers/until.js';

const FRAMES = 500;
const FRAME = 'x'.repeat(1_024);
/** More than the buffers of a connection take, all in all. */
const ANSWER = 'y'.repeat(64 * 1_024);
const HOUR_MS = 3_600_000;

interface Ends {
  /** The gateway's end. */
  ws: WebSocket;
  client: WebSocket;
  close(): Promise<void>;
}

async function connectedEnds(): Promise<Ends> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[ws]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [
    [WebSocket],
    unknown,
  ];
  return {
    ws,
    client,
    async close() {
      client.terminate();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a session of a WebSocket', () => {
  let ends: Ends;
  beforeEach(async () => (ends = await connectedEnds()));
  afterEach(() => ends.close());

  const logged: { err: unknown }[] = [];
  const terms = {
    age_ms: HOUR_MS,
    ping_ms: HOUR_MS,
    client_ms: HOUR_MS,
    send: (): never => expect.fail('no turn is sent'),
    log: { error: (line: { err: unknown }) => void logged.push(line) },
  };
  /** A session that can read no frame. */
  const refuseAll = (error: () => Error, answer: string): { read: number } => {
    const count = { read: 0 };
    const read = (): never => {
      count.read += 1;
      throw error();
    };
    void new SocketSession(ends.ws, { read, error: () => answer, close: () => undefined }, terms);
    return count;
  };

  it('kept the answers to all frames of a client that reads none in memory', async () => {
    const meaningless = () => new GatewayError('invalid_request', 'It means nothing.');
    const count = refuseAll(meaningless, ANSWER);
    const { ws, client } = ends;
    client.pause();
    for (let sent = 0; sent < FRAMES; sent += 1) client.send(FRAME);
    await until(() => ws.isPaused, 'it reads no further');
    expect(count.read).to.be.below(FRAMES);
    client.resume();
    await until(() => count.read === FRAMES, 'it reads on');
    expect(logged).to.deep.equal([]);
  });

  it('left no trace of a fault of our own in the log', async () => {
    const fault = new TypeError('x is not a function');
    refuseAll(() => fault, 'broken off');
    ends.client.send(FRAME);
    const [told] = (await once(ends.client, 'message')) as [Buffer];
    expect(told.toString()).to.equal('broken off');
    expect(logged).to.deep.equal([{ err: fault }]);
  });
});
