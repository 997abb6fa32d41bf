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

describe('a session of a WebSocket', () => {
  it('kept the answers to all frames of a client that reads none in memory', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const [[ws]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [
      [WebSocket],
      unknown,
    ];
    let read = 0;
    const refuse = (): never => {
      read += 1;
      throw new GatewayError('invalid_request', 'It means nothing.');
    };
    const talk = { read: refuse, error: () => ANSWER, close: () => undefined };
    const send = (): never => expect.fail('no turn is sent');
    const terms = { age_ms: HOUR_MS, ping_ms: HOUR_MS, client_ms: HOUR_MS, send };
    void new SocketSession(ws, talk, terms);
    client.pause();
    for (let sent = 0; sent < FRAMES; sent += 1) client.send(FRAME);
    await until(() => ws.isPaused, 'it reads no further');
    expect(read).to.be.below(FRAMES);
    client.resume();
    await until(() => read === FRAMES, 'it reads on');
    client.terminate();
    server.close();
    await once(server, 'close');
  });
});
