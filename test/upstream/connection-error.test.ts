import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { WireRequest } from '../../src/core/provider.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { createNetwork } from '../../src/upstream/network.js';
import { createPollClient } from '../../src/upstream/poll-client.js';
import { systemCodes } from '../../src/upstream/connection-error.js';
import { providerAt } from '../helpers/upstream.js';

const ASK: WireRequest = { method: 'POST', path: '/', headers: {}, body: '{}' };
const NEVER = new AbortController().signal;

/** An address at which every connection is treated so. */
async function listening(treat: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    treat(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<unknown> => once(server.close(), 'close');
  return { url: `http://127.0.0.1:${port}`, close };
}

describe("the system's code of a failed connection", () => {
  async function codesOf(url: string): Promise<readonly string[]> {
    const network = createNetwork({ connections: 4, idle_ms: 1_000 });
    const error: unknown = await network.send(providerAt(url), ASK, NEVER).catch((e: unknown) => e);
    await network.close();
    if (!(error instanceof UpstreamError)) throw error;
    expect(error.codes.join()).not.to.contain('127.0.0.1').and.not.to.contain('invalid');
    return error.codes;
  }

  it('tells of a port at which nothing listens', async () => {
    const { url, close } = await listening(() => undefined);
    await close();
    expect(await codesOf(url)).to.deep.equal(['ECONNREFUSED']);
  });

  it('tells of a name that has no address', async () => {
    const [code] = await codesOf('http://nowhere.invalid');
    // The second where the machine has no name server to ask.
    expect(code).to.be.oneOf(['ENOTFOUND', 'EAI_AGAIN']);
  });

  it('tells of a connection that was reset', async () => {
    const { url, close } = await listening((socket) =>
      socket.once('data', () => socket.resetAndDestroy()),
    );
    expect(await codesOf(url)).to.deep.equal(['ECONNRESET']);
    await close();
  });

  it('tells of a port that speaks no TLS', async () => {
    const { url, close } = await listening((socket) =>
      socket.resume().end('HTTP/1.1 400 No\r\n\r\n'),
    );
    const [code] = await codesOf(url.replace('http:', 'https:'));
    expect(code).to.match(/SSL|EPROTO/u);
    await close();
  });

  it('is the same where a job is asked for', async () => {
    const { url, close } = await listening(() => undefined);
    await close();
    const network = createNetwork({ connections: 4, idle_ms: 1_000 });
    const client = createPollClient(network);
    const asked = client.ask(providerAt(url), { ...ASK, method: 'GET', body: undefined }, 1_000);
    const error: unknown = await asked.catch((e: unknown) => e);
    client.close();
    await network.close();
    expect(error).to.have.property('codes').that.deep.equals(['ECONNREFUSED']);
  });

  it('is none where only a library has a name for it', () => {
    const closed = Object.assign(new Error('10.0.0.1 closed'), { code: 'UND_ERR_SOCKET' });
    expect(systemCodes(closed)).to.deep.equal([]);
    expect(systemCodes(Object.assign(new Error(), { code: 'of 10.0.0.1' }))).to.deep.equal([]);
    expect(systemCodes('ECONNRESET')).to.deep.equal([]);
  });

  it('is found below the errors of several addresses', () => {
    const one = Object.assign(new Error('::1'), { code: 'EHOSTUNREACH' });
    const all = new AggregateError([new Error('nothing'), one]);
    expect(systemCodes(new Error('wrapped', { cause: all }))).to.deep.equal(['EHOSTUNREACH']);
  });
});
