import { expect } from 'chai';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { waitForDrain } from '../../../src/http/socket-writes.js';
import { until } from '../../helpers/until.js';
import { play, startUpstream, type FakeUpstream, type Step } from '../../helpers/upstream.js';
import { REEL } from './helpers/video-upstream.js';
import {
  refused,
  startVideoGateway,
  UPSTREAM_KEY,
  type VideoGateway,
} from './helpers/video-gateway.js';

const HOUR_MS = 3_600_000;
const MP4 = { 'content-type': 'video/mp4' };
const WHOLE: Step = { headers: { ...MP4, 'content-length': '1000' }, body: REEL };

describe('the content of a video', () => {
  let gateway: VideoGateway;
  let other: FakeUpstream;
  let far: Step | ((path: string) => Step);
  beforeEach(async () => {
    far = WHOLE;
    other = await startUpstream(async ({ path }, response) => {
      await play(typeof far === 'function' ? far(path) : far, response);
    });
    gateway = await startVideoGateway({ hosts: [new URL(other.url).host] });
  });
  afterEach(async () => {
    await gateway.close();
    await other.close();
  });

  /** The URL of the only video of a task whose reel is at `place`, served as `step` says. */
  async function made(place: string, step?: Step): Promise<string> {
    if (step) gateway.lab.onReel = (_, response) => play(step, response);
    gateway.lab.onPoll = () => ({ state: 'done', reels: [place] });
    const { data } = await gateway.result(await gateway.begin({ duration_seconds: 1 }));
    return data?.[0]?.url ?? '';
  }

  async function fetched(url: string, headers: Record<string, string> = {}) {
    const authorization = `Bearer ${gateway.secret}`;
    const response = await fetch(gateway.url + url, { headers: { authorization, ...headers } });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  const last = () => gateway.lab.requests.at(-1);

  it('is the bytes of the upstream, with the headers of the contract', async () => {
    const url = await made('/reels/a');
    const { response, bytes } = await fetched(url);
    expect(response.status).to.equal(200);
    expect(bytes.equals(REEL)).to.equal(true);
    expect(Object.fromEntries(response.headers)).to.deep.include({
      'content-type': 'video/mp4',
      'content-disposition': 'inline; filename="video-0.mp4"',
      'content-length': '1000',
      'accept-ranges': 'bytes',
    });
    expect(response.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/u);
    expect(last()?.headers).to.deep.include({
      authorization: `Bearer ${UPSTREAM_KEY}`,
      'x-lab': 'reel',
    });
    expect(last()?.headers).to.not.have.property('range');
  });

  it('may be fetched again, and costs nothing', async () => {
    const url = await made('/reels/a');
    const before = await gateway.books();
    for (let turn = 0; turn < 3; turn += 1) expect((await fetched(url)).bytes).to.have.length(1000);
    expect(await gateway.books()).to.deep.equal(before);
  });

  it('is numbered like its index', async () => {
    gateway.lab.onPoll = () => ({ state: 'done', reels: ['/reels/a', '/reels/b'] });
    const { data } = await gateway.result(
      await gateway.begin({ sample_count: 2, duration_seconds: 1 }),
    );
    const { response } = await fetched(data?.[1]?.url ?? '');
    expect(response.headers.get('content-disposition')).to.equal('inline; filename="video-1.mp4"');
    expect(last()?.path).to.equal('/reels/b');
  });

  it('is a head alone for HEAD', async () => {
    const url = await made('/reels/a');
    const response = await gateway.get(url, { method: 'HEAD' });
    expect([response.status, response.text]).to.deep.equal([200, '']);
    expect(response.headers.get('content-length')).to.equal('1000');
  });

  it('has no length where the upstream says none', async () => {
    const { response, bytes } = await fetched(
      await made('/reels/a', { headers: MP4, chunks: [REEL.subarray(0, 9), REEL.subarray(9)] }),
    );
    expect(response.headers.get('content-length')).to.equal(null);
    expect(bytes.equals(REEL)).to.equal(true);
  });

  describe('of which a range is requested', () => {
    const inline = `data:video/mp4;base64,${REEL.toString('base64')}`;
    const places = { 'an upstream that knows none': '/reels/a', 'the task itself': inline };
    const ranges: { range: string; start: number; end: number }[] = [
      { range: 'bytes=0-0', start: 0, end: 0 },
      { range: 'bytes=10-19', start: 10, end: 19 },
      { range: 'bytes=990-', start: 990, end: 999 },
      { range: 'bytes=-5', start: 995, end: 999 },
      { range: 'bytes=900-5000', start: 900, end: 999 },
      { range: 'bytes=-5000', start: 0, end: 999 },
    ];
    for (const [what, place] of Object.entries(places)) {
      for (const { range, start, end } of ranges) {
        it(`is cut to ${range} from ${what}`, async () => {
          const { response, bytes } = await fetched(await made(place), { range });
          expect(response.status).to.equal(206);
          expect(response.headers.get('content-range')).to.equal(`bytes ${start}-${end}/1000`);
          expect(response.headers.get('content-length')).to.equal(String(end - start + 1));
          expect(bytes.equals(REEL.subarray(start, end + 1))).to.equal(true);
        });
      }

      it(`is refused past the end of ${what}`, async () => {
        const authorization = `Bearer ${gateway.secret}`;
        const headers = { authorization, range: 'bytes=1000-' };
        const response = await gateway.get(await made(place), { headers });
        expect(refused(response).slice(0, 2)).to.deep.equal([416, 'range_not_satisfiable']);
        expect(response.headers.get('content-range')).to.equal('bytes */1000');
      });

      for (const range of ['bytes=1-2,4-5', 'bytes=9-3', 'lines=1-2', 'bytes=x-', 'bytes=-']) {
        it(`is whole for "${range}" from ${what}`, async () => {
          const { response, bytes } = await fetched(await made(place), { range });
          expect([response.status, bytes.length]).to.deep.equal([200, 1000]);
        });
      }
    }

    it('passes a range on, and its answer back', async () => {
      const headers = { ...MP4, 'content-range': 'bytes 5-9/77', 'content-length': '5' };
      const url = await made('/reels/a', { status: 206, headers, body: 'abcde' });
      const { response, bytes } = await fetched(url, { range: 'bytes=5-9' });
      expect(last()?.headers.range).to.equal('bytes=5-9');
      expect(response.status).to.equal(206);
      expect(response.headers.get('content-range')).to.equal('bytes 5-9/77');
      expect(bytes.toString()).to.equal('abcde');
      const { response: whole } = await fetched(url, { range: 'bytes=5-9', 'if-range': '"x"' });
      expect(whole.status, 'a part that nobody asked for').to.equal(502);
    });

    it('passes on that there is nothing in a range', async () => {
      const step = { status: 416, headers: { 'content-range': 'bytes */77' } };
      const headers = { authorization: `Bearer ${gateway.secret}`, range: 'bytes=99-' };
      const response = await gateway.get(await made('/reels/a', step), { headers });
      expect(response.status).to.equal(416);
      expect(response.headers.get('content-range')).to.equal('bytes */77');
    });
  });

  describe('on another host than the provider', () => {
    it('is fetched without credentials', async () => {
      const { bytes } = await fetched(await made(`${other.url}/open`));
      expect(bytes.equals(REEL)).to.equal(true);
      expect(other.requests[0]?.path).to.equal('/open');
      expect(other.requests[0]?.headers).to.not.have.property('authorization');
    });

    it('is followed through redirects, which never see the credentials', async () => {
      const hops = ['/two', '/three', '/four', '/end'];
      far = (path) => {
        const next = hops[hops.findIndex((hop) => path.startsWith(hop)) + 1];
        return next === undefined ? WHOLE : { status: 307, headers: { location: next } };
      };
      const url = await made('/reels/a', {
        status: 302,
        headers: { location: `${other.url}/two?sig=1` },
      });
      const { bytes } = await fetched(url, { range: 'bytes=1-3' });
      expect(bytes.equals(REEL.subarray(1, 4))).to.equal(true);
      const paths = other.requests.map(({ path }) => path);
      expect(paths).to.deep.equal(['/two?sig=1', '/three', '/four', '/end']);
      for (const { headers } of other.requests) {
        expect(headers).to.not.have.any.keys('authorization', 'x-lab');
        expect(headers.range).to.equal('bytes=1-3');
      }
    });

    it('keeps the credentials on a redirect to the same origin', async () => {
      const url = await made('/reels/a');
      gateway.lab.onReel = ({ path }, response) => {
        const moved: Step = { status: 302, headers: { location: '/reels/b' } };
        return play(path === '/reels/b' ? WHOLE : moved, response);
      };
      expect((await fetched(url)).bytes).to.have.length(1000);
      expect(last()?.headers.authorization).to.equal(`Bearer ${UPSTREAM_KEY}`);
    });

    for (const location of ['/reels/a', 'ftp://127.0.0.1/x', 'http://', undefined]) {
      it(`gives up on a redirect to ${location}`, async () => {
        const headers: Record<string, string> = location === undefined ? {} : { location };
        const response = await gateway.get(await made('/reels/a', { status: 302, headers }));
        expect(refused(response).slice(0, 2)).to.deep.equal([502, 'upstream_error']);
        const asked = gateway.lab.requests.filter(({ path }) => path.startsWith('/reels/'));
        expect(asked.length).to.equal(location === '/reels/a' ? 6 : 1);
      });
    }
  });

  const failures: Record<string, Step> = {
    'does not have it': { status: 404 },
    breaks: { status: 500, headers: { 'retry-after': '7' } },
    'refuses the credentials': { status: 403, body: UPSTREAM_KEY },
    'hangs up at once': { destroyAfter: -1 },
    'hangs up after the head': { headers: { ...MP4, 'content-length': '1000' }, destroyAfter: 0 },
    'has nothing in it': { headers: { ...MP4, 'content-length': '0' }, body: '' },
    'says an error with 200': { headers: { 'content-type': 'application/json' }, body: '{}' },
    'sends a page': { headers: { 'content-type': 'text/html' }, body: '<html>' },
    'sends a part': { status: 206, headers: { 'content-range': 'bytes 0-1/5' }, body: 'ab' },
    'has no content': { status: 204 },
  };
  for (const [what, step] of Object.entries(failures)) {
    it(`is 502 where the upstream ${what}`, async () => {
      const response = await gateway.get(await made('/reels/a', step));
      expect(refused(response).slice(0, 2)).to.deep.equal([502, 'upstream_error']);
      expect(response.text).to.not.contain(UPSTREAM_KEY);
      expect(response.headers.get('content-disposition')).to.equal(null);
      expect(response.headers.get('retry-after')).to.equal(what === 'breaks' ? '7' : null);
    });
  }

  /** The raw answer, to look at how a connection ends. */
  async function raw(url: string): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${gateway.secret}` };
    const call = request(gateway.url + url, { headers, agent: false }).end();
    const [message] = (await once(call, 'response')) as [IncomingMessage];
    return message;
  }

  const cuts: Record<string, Step> = {
    'of known length': { headers: { ...MP4, 'content-length': '1000' } },
    'of unknown length': { headers: MP4 },
  };
  for (const [what, head] of Object.entries(cuts)) {
    it(`breaks the connection where an upstream ${what} dies in the middle`, async () => {
      const message = await raw(
        await made('/reels/a', { ...head, chunks: [REEL.subarray(0, 500)], destroyAfter: 1 }),
      );
      expect(message.statusCode).to.equal(200);
      const bytes: Buffer[] = [];
      let error: unknown;
      try {
        for await (const chunk of message) bytes.push(chunk as Buffer);
      } catch (caught) {
        error = caught;
      }
      expect(Buffer.concat(bytes).length).to.equal(500);
      expect((error as Error).message).to.equal('aborted');
      expect(message.complete).to.equal(false);
    });
  }

  it('sends the first bytes before the upstream has sent the last', async () => {
    let more = (): void => undefined;
    const rest = new Promise<void>((resolve) => (more = resolve));
    const chunks = [REEL.subarray(0, 10), rest, REEL.subarray(10)];
    const message = await raw(
      await made('/reels/a', { headers: { ...MP4, 'content-length': '1000' }, chunks }),
    );
    const iterator = message[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const first = await iterator.next();
    expect((first.value as Buffer).equals(REEL.subarray(0, 10))).to.equal(true);
    more();
    const second = await iterator.next();
    expect((second.value as Buffer).length).to.equal(990);
  });

  it('comes no faster than its client reads', async () => {
    const TOTAL = 64 * 1024 * 1024;
    const packet = Buffer.alloc(256 * 1024);
    let sent = 0;
    const url = await made('/reels/a');
    gateway.lab.onReel = async (_, response) => {
      response.writeHead(200, { ...MP4, 'content-length': TOTAL });
      while (sent < TOTAL && !response.destroyed) {
        sent += packet.length;
        if (!response.write(packet)) await once(response, 'drain');
      }
      response.end();
    };
    const message = await raw(url);
    message.pause();
    let before = -1;
    let looks = 0;
    // It stands still once every buffer on the way is full.
    await until(() => {
      looks = sent === before ? looks + 1 : 0;
      before = sent;
      return sent > 0 && looks === 100;
    }, 'the upstream stands still');
    expect(sent).to.be.lessThan(TOTAL / 2);
    let bytes = 0;
    for await (const chunk of message) bytes += (chunk as Buffer).length;
    expect(bytes).to.equal(TOTAL);
  });

  it('is broken off for a client that takes nothing for as long as limits.client', async () => {
    await gateway.close();
    gateway = await startVideoGateway({ settings: 'limits: { client: 100ms }' });
    const url = await made('/reels/a');
    let closed = false;
    gateway.lab.onReel = async (_, response) => {
      response.on('close', () => (closed = true));
      response.writeHead(200, MP4);
      while (!response.destroyed) {
        if (!response.write(Buffer.alloc(256 * 1024))) await waitForDrain(response, HOUR_MS);
      }
    };
    const message = await raw(url);
    message.on('error', () => undefined).pause();
    await until(() => closed, 'the upstream is let go');
    expect(message.complete).to.equal(false);
  });

  it('is let go by the upstream when its client leaves', async () => {
    const chunks = [REEL, new Promise(() => undefined)];
    const message = await raw(await made('/reels/a', { headers: MP4, chunks }));
    await once(message, 'data');
    message.destroy();
    expect(await last()?.closed).to.equal(false);
  });
});
