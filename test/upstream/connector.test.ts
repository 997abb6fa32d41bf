import { expect } from 'chai';
import { once } from 'node:events';
import { createServer as createPlainServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Agent } from 'undici';
import { connectorOf } from '../../src/upstream/network.js';

/** A key that both sides know stands in for a certificate. */
const SHARED = { identity: 'test', psk: Buffer.from('0123456789abcdef') };
const CIPHERS = 'PSK-AES128-GCM-SHA256';
/** More than arrives at once, and different at every place. */
const LARGE = Array.from({ length: 200_000 }, (_, at) => `${at} `).join('');

describe('the connector of upstream sockets', () => {
  let server: Server;
  let agent: Agent;

  afterEach(async () => {
    await agent.destroy();
    server.closeAllConnections();
    server.close();
  });

  async function listen(): Promise<number> {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('reads a large body whole, over sockets that are used again', async () => {
    server = createPlainServer((_, res) => res.end(LARGE));
    const port = await listen();
    agent = new Agent({ connect: connectorOf({}), connections: 2 });
    const texts = await Promise.all(
      Array.from({ length: 8 }, () => read(`http://127.0.0.1:${port}`)),
    );
    expect(texts.every((text) => text === LARGE)).to.equal(true);
  });

  it('resumes the TLS session of the last connection to a host', async () => {
    const resumed: boolean[] = [];
    // TLS 1.3 would count each connection with a shared key as resumed.
    const options = {
      ciphers: CIPHERS,
      pskCallback: () => SHARED.psk,
      maxVersion: 'TLSv1.2',
    } as const;
    server = createTlsServer(options, (_, res) => {
      resumed.push((res.socket as TLSSocket).isSessionReused());
      res.setHeader('connection', 'close').end(LARGE);
    });
    const port = await listen();
    const pskCallback = () => SHARED;
    const checkServerIdentity = () => undefined;
    agent = new Agent({
      connect: connectorOf({ ciphers: CIPHERS, pskCallback, checkServerIdentity }),
    });
    for (const _ of [1, 2, 3]) expect(await read(`https://127.0.0.1:${port}`)).to.equal(LARGE);
    expect(resumed).to.deep.equal([false, true, true]);
  });

  async function read(url: string): Promise<string> {
    const { body } = await agent.request({ origin: url, path: '/', method: 'GET' });
    return body.text();
  }
});
