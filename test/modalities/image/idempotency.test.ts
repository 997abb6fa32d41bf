import { expect } from 'chai';
import { until } from '../../helpers/until.js';
import { gate } from '../../money/helpers/disconnecting.js';
import { expectSame, refused } from '../../money/helpers/idempotent-request.js';
import { onEachStore } from '../../store/helpers/ground.js';
import {
  browse,
  imagesOf,
  json,
  painted,
  startImageGateway,
  type ImageGateway,
} from './helpers/image-gateway.js';

const BODY = { model: 'painter', prompt: 'A cat' };
const FREE =
  '  gift: { owner: acme, capabilities: [image], upstreams: [{ provider: first }], price: free }';

onEachStore('an idempotent image request', (ground) => {
  let gateway: ImageGateway;
  beforeEach(async () => {
    gateway = await startImageGateway({ models: FREE, store: ground.place.url });
  });
  afterEach(async () => {
    try {
      await gateway.settled();
    } finally {
      await gateway.close();
    }
  });

  const post = (more: object = {}, key = 'k') =>
    gateway.post({ ...BODY, ...more }, { 'idempotency-key': key });

  it('returns the same URL while the image is hosted', async () => {
    const first = await post({ n: 2 });
    const again = await post({ n: 2 });
    expectSame(again, first);
    for (const { url = '' } of imagesOf(again).data) {
      expect((await browse(gateway, url)).status).to.equal(200);
    }
    expect(gateway.first.requests).to.have.length(1);
    expect((await gateway.charges()).map(({ amount_nano }) => amount_nano)).to.deep.equal([
      -80_000_000n,
    ]);
  });

  it('returns the same bytes', async () => {
    const first = await post({ response_format: 'b64_json' });
    expectSame(await post({ response_format: 'b64_json' }), first);
    expect(refused(await post())).to.deep.equal([400, 'idempotency_key_reused']);
    expect(await gateway.charges()).to.have.length(1);
  });

  it('returns the same answer where it was free', async () => {
    const first = await post({ model: 'gift' });
    expectSame(await post({ model: 'gift' }), first);
    expect(gateway.first.requests).to.have.length(1);
    expect(await gateway.charges()).to.have.length(0);
  });

  it('calls the upstream again where it failed', async () => {
    gateway.paint = (_received, nth) => (nth === 1 ? json(500, {}) : painted(1));
    expect(refused(await post())).to.deep.equal([502, 'upstream_error']);
    const first = await post();
    expectSame(await post(), first);
    expect(await gateway.charges()).to.have.length(1);
  });

  it('returns the answer to a client that had disconnected', async () => {
    const { promise, open } = gate();
    gateway.paint = () => ({ ...painted(1), hold: promise });
    const leaving = new AbortController();
    const gone = fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        'content-type': 'application/json',
        'idempotency-key': 'k',
      },
      body: JSON.stringify(BODY),
    }).catch(() => undefined);
    await until(() => gateway.first.requests.length === 1, 'the upstream is asked');
    leaving.abort();
    await gone;
    // Whoever comes later is seen later, so that by then it is known that the first one has left.
    for (let turn = 0; turn < 3; turn += 1) {
      expect(refused(await post())).to.deep.equal([409, 'idempotency_key_running']);
    }
    open();
    await gateway.settled();
    const back = await post();
    expect(back.headers.get('idempotent-replayed')).to.equal('true');
    const [{ url = '' } = {}] = imagesOf(back).data;
    expect((await browse(gateway, url)).status).to.equal(200);
    expect(await gateway.charges()).to.have.length(1);
  });
});
