import { expect } from 'chai';
import type { Step } from '../../helpers/upstream.js';
import { until } from '../../helpers/until.js';
import {
  imagesOf,
  json,
  painted,
  refusal,
  refused,
  startGallery,
  UPSTREAM_KEY,
  type Gallery,
} from './helpers/gallery.js';

const GOOD = { model: 'painter', prompt: 'A cat' };
const said = (message: string, code = 'oops') => ({ error: { message, code, type: code } });

/** [what the upstream does, its answer, the client's status and code] */
const FAULTS: [string, Step, number, string][] = [
  ['rejects the request', json(400, said('n is odd')), 400, 'invalid_request'],
  ['finds the prompt against the rules', refused(), 400, 'content_policy_violation'],
  ['refuses the key', json(401, said(`Bad key ${UPSTREAM_KEY}`)), 502, 'upstream_error'],
  ['limits the rate', json(429, said('slow')), 502, 'upstream_error'],
  ['fails', json(500, said('oops')), 502, 'upstream_error'],
  ['redirects', { status: 307, headers: { location: '/elsewhere' } }, 502, 'upstream_error'],
  ['says a page', { status: 200, body: '<html>' }, 502, 'upstream_error'],
  ['says nothing', { status: 200 }, 502, 'upstream_error'],
  ['says a list', json(200, []), 502, 'upstream_error'],
  ['says an error with 200', json(200, said('oops')), 502, 'upstream_error'],
  ['makes no picture', json(200, { data: [] }), 502, 'upstream_error'],
  ['makes a picture of nothing', json(200, { data: [{ b64_json: '' }] }), 502, 'upstream_error'],
  ['makes a picture of junk', json(200, { data: [{ b64_json: '!!!' }] }), 502, 'upstream_error'],
  ['breaks off', { body: '{"data":[', destroyAfter: 0 }, 502, 'upstream_error'],
  ['hangs up', { destroyAfter: -1 }, 502, 'upstream_error'],
];

describe('an image upstream that', () => {
  let gallery: Gallery;
  before(async () => {
    gallery = await startGallery();
  });
  after(() => gallery.close());
  afterEach(() => gallery.settled());

  for (const [what, step, status, code] of FAULTS) {
    it(`${what} is answered with ${status} and costs nothing`, async () => {
      gallery.paint = () => step;
      const answer = await gallery.post(GOOD);
      expect(refusal(answer)).to.deep.equal([status, code, null]);
      expect(answer.text).not.to.include(UPSTREAM_KEY);
      expect(await gallery.charges()).to.deep.equal([]);
    });
  }

  it('says when to come back is repeated', async () => {
    gallery.paint = () => {
      const { headers, ...rest } = json(429, said('slow'));
      return { ...rest, headers: { ...headers, 'retry-after': '7' } };
    };
    const answer = await gallery.post(GOOD);
    expect(answer.headers.get('retry-after')).to.equal('7');
  });
});

describe('an image model with two upstreams', () => {
  let gallery: Gallery;
  beforeEach(async () => {
    gallery = await startGallery();
  });
  afterEach(async () => {
    await gallery.settled();
    await gallery.close();
  });

  it('falls back from one that fails', async () => {
    gallery.paintSecond = () => json(503, said('busy'));
    imagesOf(await gallery.post({ ...GOOD, model: 'spare' }));
    expect(gallery.first.requests).to.have.length(1);
    const [charge] = await gallery.charges();
    expect(charge).to.include({ provider: 'first', amount_nano: -40_000_000n });
  });

  it('does not fall back from a refusal', async () => {
    gallery.paintSecond = () => refused();
    const answer = await gallery.post({ ...GOOD, model: 'spare' });
    expect(refusal(answer)).to.deep.equal([400, 'content_policy_violation', null]);
    expect(gallery.first.requests).to.deep.equal([]);
  });
});

describe('a client that leaves before its pictures come', () => {
  const leave = async (gallery: Gallery, hold: Promise<void>): Promise<void> => {
    gallery.paint = () => ({ ...painted(1), hold });
    const abort = new AbortController();
    const { url, secret } = gallery;
    const asking = fetch(`${url}/v1/images/generations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify(GOOD),
      signal: abort.signal,
    }).catch(() => undefined);
    await until(() => gallery.first.requests.length === 1, 'the upstream was asked');
    abort.abort();
    await asking;
  };

  it('pays nothing where the upstream stops', async () => {
    const gallery = await startGallery({ manifest: 'on_abort: abort' });
    try {
      await leave(gallery, new Promise(() => undefined));
      expect(await gallery.first.requests[0]?.closed).to.equal(false);
      await gallery.settled();
      expect(await gallery.charges()).to.deep.equal([]);
    } finally {
      await gallery.close();
    }
  });

  it('pays for what the upstream went on to make', async () => {
    const gallery = await startGallery({ manifest: 'on_abort: drain' });
    try {
      let open = (): void => undefined;
      await leave(gallery, new Promise<void>((resolve) => (open = resolve)));
      open();
      await gallery.settled();
      const [charge] = await gallery.charges();
      expect(charge?.amount_nano).to.equal(-40_000_000n);
    } finally {
      await gallery.close();
    }
  });
});
