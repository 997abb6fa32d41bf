import { expect } from 'chai';
import type { Step } from '../../helpers/upstream.js';
import { until } from '../../helpers/until.js';
import {
  imagesOf,
  json,
  painted,
  refusal,
  refused,
  eachImageGateway,
  startImageGateway,
  UPSTREAM_KEY,
  type ImageGateway,
} from './helpers/image-gateway.js';

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
  ['makes no image', json(200, { data: [] }), 502, 'upstream_error'],
  ['makes an image of nothing', json(200, { data: [{ b64_json: '' }] }), 502, 'upstream_error'],
  ['makes an image of junk', json(200, { data: [{ b64_json: '!!!' }] }), 502, 'upstream_error'],
  ['breaks off', { body: '{"data":[', destroyAfter: 0 }, 502, 'upstream_error'],
  ['hangs up', { destroyAfter: -1 }, 502, 'upstream_error'],
];

describe('an image upstream whose call', () => {
  let gateway: ImageGateway;
  before(async () => {
    gateway = await startImageGateway();
  });
  after(() => gateway.close());
  afterEach(() => gateway.settled());

  for (const [what, step, status, code] of FAULTS) {
    it(`${what} is answered with ${status} and costs nothing`, async () => {
      gateway.paint = () => step;
      const answer = await gateway.post(GOOD);
      expect(refusal(answer)).to.deep.equal([status, code, null]);
      expect(answer.text).not.to.include(UPSTREAM_KEY);
      expect(await gateway.charges()).to.deep.equal([]);
    });
  }

  it('is answered with Retry-After is retried', async () => {
    gateway.paint = () => {
      const { headers, ...rest } = json(429, said('slow'));
      return { ...rest, headers: { ...headers, 'retry-after': '7' } };
    };
    const answer = await gateway.post(GOOD);
    expect(answer.headers.get('retry-after')).to.equal('7');
  });
});

describe('an image model with two upstreams', () => {
  let gateway: ImageGateway;
  eachImageGateway(
    (made) => (gateway = made),
    () => gateway,
  );

  it('falls back from one that fails', async () => {
    gateway.paintSecond = () => json(503, said('busy'));
    imagesOf(await gateway.post({ ...GOOD, model: 'spare' }));
    expect(gateway.first.requests).to.have.length(1);
    const [charge] = await gateway.charges();
    expect(charge).to.include({ provider: 'first', amount_nano: -40_000_000n });
  });

  it('does not fall back from a refusal', async () => {
    gateway.paintSecond = () => refused();
    const answer = await gateway.post({ ...GOOD, model: 'spare' });
    expect(refusal(answer)).to.deep.equal([400, 'content_policy_violation', null]);
    expect(gateway.first.requests).to.deep.equal([]);
  });
});

describe('a client that disconnects before its images arrive', () => {
  const leave = async (gateway: ImageGateway, hold: Promise<void>): Promise<void> => {
    gateway.paint = () => ({ ...painted(1), hold });
    const abort = new AbortController();
    const { url, secret } = gateway;
    const asking = fetch(`${url}/v1/images/generations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify(GOOD),
      signal: abort.signal,
    }).catch(() => undefined);
    await until(() => gateway.first.requests.length === 1, 'the upstream was asked');
    abort.abort();
    await asking;
  };

  it('pays nothing where the upstream stops', async () => {
    const gateway = await startImageGateway({ manifest: 'on_abort: abort' });
    try {
      await leave(gateway, new Promise(() => undefined));
      expect(await gateway.first.requests[0]?.closed).to.equal(false);
      await gateway.settled();
      expect(await gateway.charges()).to.deep.equal([]);
    } finally {
      await gateway.close();
    }
  });

  it('pays for what the upstream went on to make', async () => {
    const gateway = await startImageGateway({ manifest: 'on_abort: drain' });
    try {
      let open = (): void => undefined;
      await leave(gateway, new Promise<void>((resolve) => (open = resolve)));
      open();
      await gateway.settled();
      const [charge] = await gateway.charges();
      expect(charge?.amount_nano).to.equal(-40_000_000n);
    } finally {
      await gateway.close();
    }
  });
});
