import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ReplyBody, type BodySource } from '../../src/upstream/reply-body.js';
import { createNetwork } from '../../src/upstream/network.js';
import type { Network } from '../../src/upstream/network-types.js';
import { until } from '../helpers/until.js';
import { providerAt } from '../helpers/upstream.js';

const LARGE = Buffer.alloc(40 * 1024);

describe('ReplyBody.each', () => {
  let told: string[];
  let body: ReplyBody;
  let got: string[];

  const take = (packet: Buffer): undefined => void got.push(packet.toString());

  beforeEach(() => {
    told = [];
    got = [];
    const source: BodySource = {
      resume: () => void told.push('resume'),
      abandon: () => void told.push('abandon'),
    };
    body = new ReplyBody(source);
  });

  it('gives the packets that have come, then each packet in the turn after it', async () => {
    body.push(Buffer.from('a'));
    const over = body.each(take);
    expect(got).to.deep.equal(['a']);
    expect(body.push(Buffer.from('b'))).to.equal(true);
    await nextTurn();
    expect(got).to.deep.equal(['a', 'b']);
    body.end();
    await over;
    expect(told).to.deep.equal(['resume']);
  });

  it('gives packets that come in one turn as one', async () => {
    const over = body.each(take);
    for (const text of ['a', 'b', 'c']) expect(body.push(Buffer.from(text))).to.equal(true);
    expect(got).to.deep.equal([]);
    await nextTurn();
    expect(got).to.deep.equal(['abc']);
    body.push(Buffer.from('d'));
    body.end();
    expect(got).to.deep.equal(['abc', 'd']);
    await over;
  });

  it('held all others up while it gave all that a socket had in one turn', async () => {
    const over = body.each(take);
    expect(body.push(LARGE)).to.equal(true);
    expect(body.push(LARGE)).to.equal(false);
    expect(got).to.deep.equal([]);
    await nextTurn();
    expect(got).to.deep.equal([LARGE.toString().repeat(2)]);
    expect(told).to.deep.equal(['resume', 'resume']);
    expect(body.push(LARGE)).to.equal(true);
    body.end();
    await over;
  });

  it('keeps packets while its reader is busy, and asks for a pause when they are too many', async () => {
    const waits: (() => void)[] = [];
    const over = body.each((packet) => {
      got.push(packet.toString());
      return new Promise((resolve) => waits.push(resolve));
    });
    body.push(Buffer.from('a'));
    await nextTurn();
    expect(body.push(LARGE)).to.equal(true);
    expect(body.push(LARGE)).to.equal(false);
    body.push(Buffer.from('z'));
    expect(got).to.deep.equal(['a']);
    waits.shift()?.();
    await nextTurn();
    expect(got).to.deep.equal(['a', `${LARGE.toString().repeat(2)}z`]);
    expect(body.push(LARGE)).to.equal(true);
    await nextTurn();
    body.end();
    waits.shift()?.();
    await nextTurn();
    waits.shift()?.();
    await over;
    expect(got.slice(2)).to.deep.equal([LARGE.toString()]);
  });

  it('resumes its source once a busy reader has read every packet', async () => {
    let done = (): void => undefined;
    void body.each(() => new Promise((resolve) => void (done = resolve)));
    body.push(Buffer.from('a'));
    await nextTurn();
    expect(told).to.deep.equal(['resume']);
    done();
    await nextTurn();
    expect(told).to.deep.equal(['resume', 'resume']);
  });

  it('reports a failure after the packets that came before it', async () => {
    body.push(Buffer.from('a'));
    body.fail(new Error('cut'));
    expect(await body.each(take).catch(String)).to.equal('Error: cut');
    expect(got).to.deep.equal(['a']);
  });

  it('reports a failure while its reader waits', async () => {
    const over = body.each(take);
    body.push(Buffer.from('a'));
    body.fail(new Error('cut'));
    expect(await over.catch(String)).to.equal('Error: cut');
  });

  for (const [how, fail] of [
    [
      'throws',
      () => {
        throw new Error('bad');
      },
    ],
    ['rejects', () => Promise.reject(new Error('bad'))],
  ] as const) {
    it(`abandons the answer with the error of a reader that ${how}`, async () => {
      const over = body.each(fail).catch(String);
      body.push(Buffer.from('a'));
      expect(await over).to.equal('Error: bad');
      expect(told.at(-1)).to.equal('abandon');
      expect(body.push(Buffer.from('b'))).to.equal(true);
    });
  }

  it('ends when its reader stops', async () => {
    const over = body.each((packet) => {
      take(packet);
      void body.return();
      return undefined;
    });
    body.push(Buffer.from('a'));
    await nextTurn();
    body.push(Buffer.from('b'));
    await over;
    expect(got).to.deep.equal(['a']);
    expect(told).to.deep.equal(['resume', 'abandon']);
  });
});

describe('ReplyBody.each of an answer that comes by socket', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  let server: Server;
  let network: Network;
  let socket: Socket;

  beforeEach(async () => {
    network = createNetwork({ connections: 1, idle_ms: 30_000 });
    server = createServer((caller) => {
      socket = caller.setNoDelay(true);
      caller.once('data', () => caller.write(HEAD));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    await network.close();
    socket.destroy();
    server.close();
    await once(server, 'close');
  });

  async function answered(): Promise<ReplyBody> {
    const { port } = server.address() as AddressInfo;
    const request = { method: 'POST', path: '/', headers: {}, body: '{}' } as const;
    const signal = new AbortController().signal;
    const { body } = await network.send(providerAt(`http://127.0.0.1:${port}`), request, signal);
    if (body instanceof ReplyBody) return body;
    throw new Error('The body comes in another way.');
  }

  const framed = (texts: readonly string[]) =>
    texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('');

  it('gives chunks that came in one packet as one', async () => {
    const body = await answered();
    const got: string[] = [];
    const over = body.each((packet) => void got.push(packet.toString()));
    const packets = [
      [framed(['one ', 'two ', 'three']), 'one two three'],
      [framed(['four']), 'four'],
      [`${framed(['five '])}3\r\ns`, 'five s'],
      [`ix\r\n${framed([' seven'])}`, 'ix seven'],
      [`${framed(['eight ', 'nine'])}0\r\n\r\n`, 'eight nine'],
    ] as const;
    for (const [at, [bytes]] of packets.entries()) {
      socket.write(bytes);
      await until(() => got.length > at, 'the packet is here');
    }
    await over;
    expect(got).to.deep.equal(packets.map(([, text]) => text));
  });

  it('gives the bytes before a fault in the same packet, and then reports the fault', async () => {
    const body = await answered();
    const got: string[] = [];
    const over = body.each((packet) => void got.push(packet.toString())).catch(String);
    socket.write(`${framed(['one ', 'two'])}nonsense\r\n`);
    expect(await over).to.match(/^UpstreamError: The upstream's answer was cut off/u);
    expect(got).to.deep.equal(['one two']);
  });

  it('keeps packets for a busy reader, and the rest of its own packet', async () => {
    const body = await answered();
    const got: string[] = [];
    const waits: (() => void)[] = [];
    const over = body.each((packet) => {
      got.push(packet.toString());
      return new Promise((resolve) => waits.push(resolve));
    });
    socket.write(framed(['one ', 'two']));
    await until(() => got.length === 1, 'the first packet is here');
    socket.end(`${framed(['three ', 'four'])}0\r\n\r\n`);
    await once(socket, 'finish');
    await nextTurn();
    expect(got).to.deep.equal(['one two']);
    waits.shift()?.();
    await until(() => got.length === 2, 'the rest is here');
    waits.shift()?.();
    await over;
    expect(got).to.deep.equal(['one two', 'three four']);
  });

  it('gives chunks of one packet as one to an async iterator', async () => {
    const body = await answered();
    const first = body.next();
    socket.write(framed(['one ', 'two']));
    expect(String((await first).value)).to.equal('one two');
    const second = body.next();
    socket.write(`${framed(['three ', 'four'])}0\r\n\r\n`);
    expect(String((await second).value)).to.equal('three four');
    expect(await body.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('gives packets that came before the first read as one', async () => {
    const body = await answered();
    socket.end(`${framed(['one ', 'two'])}0\r\n\r\n`);
    await once(socket, 'close');
    expect(String((await body.next()).value)).to.equal('one two');
    expect((await body.next()).done).to.equal(true);
  });

  it('reports a fault to an async iterator after the bytes before it in the same packet', async () => {
    const body = await answered();
    const first = body.next();
    socket.write(`${framed(['one ', 'two'])}nonsense\r\n`);
    expect(String((await first).value)).to.equal('one two');
    expect(await body.next().catch(String)).to.match(/^UpstreamError/u);
    expect((await body.next()).done).to.equal(true);
  });
});
