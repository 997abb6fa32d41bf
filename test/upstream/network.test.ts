import { expect } from 'chai';
import { once, setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Provider, Timeouts, WireReply, WireRequest } from '../../src/core/provider.js';
import { createNetwork, idleOf } from '../../src/upstream/network.js';
import { isForeign, isOwn, readJson, readText } from '../../src/upstream/upstream-request.js';
import type { Network } from '../../src/upstream/network-types.js';
import {
  chatJson,
  chatSse,
  play,
  providerAt,
  startUpstream,
  type FakeUpstream,
  type Handler,
  type Step,
} from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import { UpstreamError, type Fault } from '../../src/core/upstream-error.js';

const REQUEST: WireRequest = {
  method: 'POST',
  path: '/chat/completions',
  headers: { 'content-type': 'application/json' },
  body: '{"model":"fake-1"}',
};
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);
const silence = new Promise<void>(() => undefined);

describe('the network of upstream calls', () => {
  const upstreams: FakeUpstream[] = [];
  let network: Network;

  beforeEach(() => {
    network = createNetwork({ connections: 64, idle_ms: 30_000 });
  });

  afterEach(async () => {
    await network.close();
    for (const upstream of upstreams.splice(0)) await upstream.close();
  });

  async function start(script: Handler | Step | readonly Step[]): Promise<FakeUpstream> {
    const upstream = await startUpstream(script);
    upstreams.push(upstream);
    return upstream;
  }

  function impatient(url: string, timeouts: Partial<Timeouts>): Provider {
    const patient = providerAt(url);
    return { ...patient, timeouts: { ...patient.timeouts, ...timeouts } };
  }

  describe('a request', () => {
    it('goes to the path under base_url with headers and body', async () => {
      const upstream = await start(chatJson('Hello'));
      const provider = providerAt(`${upstream.url}/v1/`, {
        headers: { Authorization: 'Bearer k' },
      });
      const answer = await network.send(provider, REQUEST, NEVER);
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.equal('application/json');
      expect(await readJson(answer, 10_000)).to.have.property('id', 'chatcmpl-fake');
      const [request] = upstream.requests;
      expect(request).to.include({ method: 'POST', path: '/v1/chat/completions' });
      expect(request?.body).to.equal(REQUEST.body);
      expect(request?.headers).to.include({
        authorization: 'Bearer k',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
      });
    });

    it("keeps the operator's header where a codec sets the same one", async () => {
      const upstream = await start(chatJson('Hello'));
      const provider = providerAt(upstream.url, { headers: { 'X-Version': 'mine' } });
      const request = { ...REQUEST, headers: { 'x-version': 'codec' } };
      await network.send(provider, request, NEVER).then((answer) => readJson(answer, 10_000));
      expect(upstream.requests[0]?.headers['x-version']).to.equal('mine');
    });

    it('keeps the query of base_url', async () => {
      const upstream = await start({});
      const provider = providerAt(`${upstream.url}/v1?api-version=7`);
      await network.send(provider, REQUEST, NEVER);
      await network.send(provider, { ...REQUEST, path: '/x?y=1' }, NEVER);
      const paths = upstream.requests.map(({ path }) => path);
      expect(paths).to.deep.equal([
        '/v1/chat/completions?api-version=7',
        '/v1/x?y=1&api-version=7',
      ]);
    });

    it('keeps its sockets over a thousand calls in a row', async () => {
      const upstream = await start(chatJson('Hello'));
      const provider = providerAt(upstream.url);
      for (let call = 0; call < 1_000; call += 1) {
        await network.send(provider, REQUEST, NEVER).then((answer) => readJson(answer, 10_000));
      }
      expect(upstream.requests).to.have.length(1_000);
      // A socket is free one turn of the event loop after its answer, so two take turns.
      expect(upstream.sockets).to.be.below(3);
    });

    it('keeps its sockets where readers leave at the last event of a stream', async () => {
      const upstream = await start(chatSse(['Hello']));
      const provider = providerAt(upstream.url);
      for (let call = 0; call < 200; call += 1) {
        const answer = await network.send(provider, REQUEST, NEVER);
        for await (const chunk of answer.body) {
          if (Buffer.from(chunk).includes('[DONE]')) break;
        }
      }
      // The next call may begin before the last one's end is here, and then takes a second socket.
      expect(upstream.sockets).to.be.below(5);
    });

    it('opens no more sockets to one origin than it may, and blames no upstream', async () => {
      const upstream = await start(chatJson('Hello'));
      const narrow = createNetwork({ connections: 3, idle_ms: 30_000 });
      const provider = providerAt(upstream.url);
      const calls = Array.from({ length: 30 }, async () =>
        readJson(await narrow.send(provider, REQUEST, NEVER), 10_000),
      );
      const ended = await Promise.allSettled(calls);
      await readJson(await narrow.send(provider, REQUEST, NEVER), 10_000);
      await narrow.close();
      const reasons = ended.flatMap((one) =>
        one.status === 'rejected' ? [one.reason as unknown] : [],
      );
      expect(reasons).to.have.length(27);
      await expectFault(Promise.reject(reasons[0]), 'busy', /limits\.connections/u);
      expect(upstream.requests).to.have.length(4);
      expect(upstream.sockets).to.be.at.most(3);
    });
  });

  describe('an answer', () => {
    it('is handed over as it is when it is a redirect', async () => {
      const upstream = await start({ status: 307, headers: { location: 'http://example.test/' } });
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      expect(answer.status).to.equal(307);
      expect(upstream.requests).to.have.length(1);
    });

    it('is not an early hint', async () => {
      const upstream = await start(async (_, response) => {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' });
        await play(chatJson('Hello'), response);
      });
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      expect(answer.status).to.equal(200);
    });

    it('joins the values of a header that comes twice', async () => {
      const upstream = await start((_, response) => {
        response.setHeader('x-twice', ['one', 'two']);
        response.end();
      });
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      expect(answer.headers['x-twice']).to.equal('one, two');
    });

    const compressions: [string, (text: string) => Buffer][] = [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ];
    for (const [encoding, compress] of compressions) {
      it(`is inflated when it comes as ${encoding}`, async () => {
        const body = compress(JSON.stringify({ text: 'ü'.repeat(50_000) }));
        const upstream = await start({ headers: { 'content-encoding': encoding }, body });
        const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
        expect(await readJson(answer, 200_000)).to.deep.equal({ text: 'ü'.repeat(50_000) });
      });
    }

    it('fails when its compressed body inflates past the limit', async () => {
      const body = gzipSync('x'.repeat(20_000_000));
      const upstream = await start({ headers: { 'content-encoding': 'gzip' }, body });
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      await expectFault(readJson(answer, 1_000_000), 'broken', /larger than 1000000 bytes/u);
    });

    it('fails when its compressed body is cut', async () => {
      const whole = gzipSync(JSON.stringify({ text: 'hello' }));
      const body = whole.subarray(0, whole.length - 9);
      const upstream = await start({ headers: { 'content-encoding': 'gzip' }, body });
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      await expectFault(readJson(answer, 1_000), 'broken', /compressed/u);
    });
  });

  describe('a fault', () => {
    it('is unreachable when nothing listens at the port', async () => {
      const upstream = await startUpstream({});
      await upstream.close();
      await expectFault(network.send(providerAt(upstream.url), REQUEST, NEVER), 'unreachable');
    });

    it('is broken when the socket closes without an answer, and the call is not repeated', async () => {
      const upstream = await start({ destroyAfter: -1 });
      await expectFault(network.send(providerAt(upstream.url), REQUEST, NEVER), 'broken');
      expect(upstream.requests).to.have.length(1);
    });

    it('is broken when a kept socket turns out to be closed, and the call is not repeated', async () => {
      const upstream = await start([chatJson('Hello'), { destroyAfter: -1 }, chatJson('Again')]);
      const provider = providerAt(upstream.url);
      await network.send(provider, REQUEST, NEVER).then((answer) => readJson(answer, 10_000));
      await expectFault(network.send(provider, REQUEST, NEVER), 'broken');
      expect(upstream.requests).to.have.length(2);
    });

    it('is broken when the answer is no HTTP', async () => {
      const server = createServer((socket) => socket.end('I do not speak that.\r\n\r\n'));
      const url = await listen(server);
      await expectFault(network.send(providerAt(url), REQUEST, NEVER), 'broken');
      server.close();
    });

    it('is broken when the body is cut, after the bytes before it were read', async () => {
      const upstream = await start({ chunks: ['one', 'two', 'three'], destroyAfter: 2 });
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      let text = '';
      const reading = (async () => {
        for await (const chunk of answer.body) text += Buffer.from(chunk).toString();
      })();
      await expectFault(reading, 'broken', /cut off/u);
      expect(text).to.equal('onetwo');
    });

    it('is broken when the body is shorter than it was announced', async () => {
      const upstream = await start({
        headers: { 'content-length': '100' },
        chunks: ['{"a":'],
        destroyAfter: 1,
      });
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      await expectFault(readJson(answer, 1_000), 'broken');
    });

    const late: [string, Partial<Timeouts>, Step, RegExp][] = [
      ['no head comes', { first_byte_ms: 200 }, { hold: silence }, /within 200 ms \(first_byte\)/u],
      ['no body follows', { first_byte_ms: 200 }, { chunks: [silence] }, /200 ms \(first_byte\)/u],
      ['the body stops', { idle_ms: 200 }, { chunks: ['{', silence] }, /within 200 ms \(idle\)/u],
      ['it takes too long', { total_ms: 300 }, { chunks: ['{', silence] }, /300 ms \(total\)/u],
    ];
    for (const [what, timeouts, step, message] of late) {
      it(`is a timeout that names its phase when ${what}, and closes the socket`, async () => {
        const upstream = await start(step);
        const provider = impatient(upstream.url, timeouts);
        const call = network
          .send(provider, REQUEST, NEVER)
          .then((answer) => readJson(answer, 1_000));
        await expectFault(call, 'timeout', message);
        await until(() => upstream.requests.length === 1, 'the upstream has read it');
        expect(await upstream.requests[0]?.closed).to.equal(false);
      });
    }
  });

  describe('an idle connection', () => {
    it('is kept for the next call, and closed when none comes in time', async () => {
      // With this header Node's server names no time of its own.
      const step = chatJson('Hello');
      const upstream = await start({
        ...step,
        headers: { ...step.headers, connection: 'keep-alive' },
      });
      const brief = createNetwork({ connections: 1, idle_ms: 200 });
      const ask = async () => {
        const answer = await brief.send(providerAt(upstream.url), REQUEST, NEVER);
        await readJson(answer, 10_000);
      };
      await ask();
      await ask();
      expect(upstream.sockets).to.equal(1);
      await until(() => upstream.open === 0, 'the connection is closed');
      await ask();
      expect(upstream.sockets).to.equal(2);
      await brief.close();
    });

    it('is kept longer over TLS, where opening another takes the longest', () => {
      expect(idleOf('https://api.example.com', 30_000)).to.equal(30_000);
      expect(idleOf(new URL('http://127.0.0.1:8000'), 30_000)).to.equal(4_000);
      expect(idleOf('http://127.0.0.1:8000', 500)).to.equal(500);
    });
  });

  describe('an aborted call', () => {
    it('is not sent when it is aborted before', async () => {
      const upstream = await start({});
      const aborted = AbortSignal.abort(new Error('gone'));
      const error = await rejection(network.send(providerAt(upstream.url), REQUEST, aborted));
      expect(error).to.have.property('message', 'gone');
      expect(upstream.sockets).to.equal(0);
    });

    it("closes the upstream's socket while it waits for the head", async () => {
      const upstream = await start({ hold: silence });
      const abort = new AbortController();
      const call = rejection(network.send(providerAt(upstream.url), REQUEST, abort.signal));
      await until(() => upstream.requests.length === 1, 'the request arrives');
      abort.abort(new Error('gone'));
      expect(await call).to.have.property('message', 'gone');
      expect(await upstream.requests[0]?.closed).to.equal(false);
    });

    it("closes the upstream's socket in the middle of the body", async () => {
      const upstream = await start({ chunks: ['one', silence] });
      const abort = new AbortController();
      const answer = await network.send(providerAt(upstream.url), REQUEST, abort.signal);
      const body = answer.body[Symbol.asyncIterator]();
      await body.next();
      const next = rejection(body.next());
      abort.abort(new Error('gone'));
      expect(await next).to.have.property('message', 'gone');
      expect(await upstream.requests[0]?.closed).to.equal(false);
    });
  });

  describe('a reader', () => {
    it('that leaves a long body closes the socket', async () => {
      const upstream = await start((_, response) => void pour(response, 64));
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      for await (const chunk of answer.body) if (chunk.length > 0) break;
      expect(await upstream.requests[0]?.closed).to.equal(false);
    });

    it('that leaves a silent body closes the socket', async () => {
      const upstream = await start({ chunks: ['data: [DONE]\n\n', silence] });
      const answer = await network.send(providerAt(upstream.url), REQUEST, NEVER);
      for await (const chunk of answer.body) if (chunk.length > 0) break;
      expect(await upstream.requests[0]?.closed).to.equal(false);
    });

    it('that is slow pauses the upstream, loses nothing, and is not called silent', async () => {
      const megabytes = 48;
      const poured = { bytes: 0 };
      const upstream = await start((_, response) => void pour(response, megabytes, poured));
      // Long enough for a busy machine to send a packet.
      const idle_ms = 2_000;
      const provider = impatient(upstream.url, { idle_ms, total_ms: 60_000 });
      const answer = await network.send(provider, REQUEST, NEVER);
      const paused = performance.now();
      await stalls(poured);
      await until(() => performance.now() - paused > 1.2 * idle_ms, 'the reader has been slow');
      expect(poured.bytes).to.be.below((megabytes / 2) * 1024 * 1024);
      let bytes = 0;
      for await (const chunk of answer.body) bytes += chunk.length;
      expect(bytes).to.equal(megabytes * 1024 * 1024);
    });
  });

  describe('a local upstream', () => {
    function inside(
      answer: (request: WireRequest, settings: object, signal: AbortSignal) => Promise<WireReply>,
      settings: Record<string, unknown> = {},
    ): Provider {
      const provider = impatient('http://local.invalid', { first_byte_ms: 30 });
      return { ...provider, local: { answer, settings } };
    }

    it('answers without a socket', async () => {
      const provider = inside(
        async ({ path }, settings) => ({
          status: 201,
          headers: { 'x-path': path },
          body: packets([JSON.stringify(settings)]),
        }),
        { pace: 3 },
      );
      const answer = await network.send(provider, REQUEST, NEVER);
      expect(answer).to.deep.include({ status: 201, headers: { 'x-path': REQUEST.path } });
      expect(await readJson(answer, 1_000)).to.deep.equal({ pace: 3 });
    });

    it('is aborted when it exceeds its timeouts', async () => {
      let told: AbortSignal | undefined;
      const provider = inside((_, __, signal) => {
        told = signal;
        return new Promise<never>(() => undefined);
      });
      await expectFault(network.send(provider, REQUEST, NEVER), 'timeout', /first_byte/u);
      expect(told?.aborted).to.equal(true);
    });

    it('is broken when it throws in the middle', async () => {
      const provider = inside(async () => ({
        status: 200,
        headers: {},
        body: packets(['one'], new Error('inner words')),
      }));
      const answer = await network.send(provider, REQUEST, NEVER);
      await expectFault(
        readJson(answer, 1_000),
        'broken',
        /^The upstream's answer was cut off\.$/u,
      );
    });

    it('waits for a slow reader', async () => {
      let made = 0;
      const provider = inside(async () => ({
        status: 200,
        headers: {},
        body: (async function* () {
          for (; made < 100; made += 1) yield Buffer.alloc(10_000);
        })(),
      }));
      const answer = await network.send(provider, REQUEST, NEVER);
      await new Promise(setImmediate);
      expect(made).to.be.below(20);
      expect((await readText(answer, 2_000_000)).length).to.equal(1_000_000);
    });
  });
});

/** Writes as fast as it is let. */
async function pour(
  response: ServerResponse,
  megabytes: number,
  poured = { bytes: 0 },
): Promise<void> {
  const chunk = Buffer.alloc(1024 * 1024);
  response.setMaxListeners(0);
  for (let written = 0; written < megabytes && !response.destroyed; written += 1) {
    poured.bytes += chunk.length;
    if (response.write(chunk)) continue;
    await Promise.race([once(response, 'drain'), once(response, 'close')]).catch(() => undefined);
  }
  response.end();
}

/** Resolves when nothing has been poured for a while. */
async function stalls(poured: { bytes: number }): Promise<void> {
  let before = -1;
  let looks = 0;
  await until(() => {
    looks = poured.bytes === before ? looks + 1 : 0;
    before = poured.bytes;
    return poured.bytes > 0 && looks >= 100;
  }, 'the upstream stalls');
}

async function* packets(texts: string[], error?: Error): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
  if (error) throw error;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('No address.');
  return `http://127.0.0.1:${address.port}`;
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
}

async function expectFault(promise: Promise<unknown>, fault: Fault, message = /./u): Promise<void> {
  const error = await rejection(promise);
  expect(error).to.be.instanceOf(UpstreamError);
  expect(error).to.have.property('fault', fault);
  expect((error as UpstreamError).message).to.match(message);
}

describe('the hosts that get the key of a provider', () => {
  const wire = { key_hosts: ['api.*.example.com', '127.0.0.1:9', 7, '*.*.net', 'a*'] };
  const provider = providerAt('https://api.example.com/v1', { wire });
  const CASES: [string, boolean][] = [
    ['https://api.example.com/jobs/1', true],
    ['http://api.example.com/jobs/1', false],
    ['https://api.example.com:8443/jobs/1', false],
    ['https://api.us1.example.com/jobs/1', true],
    ['https://api.eu-west.example.com/jobs/1', true],
    ['http://api.us1.example.com/jobs/1', false],
    ['https://api.us1.example.com:8443/jobs/1', false],
    ['https://api.evil.com.example.com/jobs/1', false],
    ['https://api..example.com/jobs/1', false],
    ['https://api.us1.example.com.evil.com/jobs/1', false],
    ['https://evil.com/api.us1.example.com', false],
    ['https://delivery.us1.example.com/file.png', false],
    ['http://127.0.0.1:9/jobs/1', true],
    ['http://127.0.0.1:90/jobs/1', false],
    ['https://x.y.net/', false],
  ];
  for (const [url, own] of CASES) {
    it(`are ${own ? '' : 'not '}those of ${url}`, () => {
      expect(isOwn(provider, new URL(url))).to.equal(own);
      expect(isForeign(provider, url)).to.equal(!own);
    });
  }
});
