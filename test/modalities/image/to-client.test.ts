import { expect } from 'chai';
import { startUpstream, type FakeUpstream, type Step } from '../../helpers/upstream.js';
import {
  browse,
  imagesOf,
  json,
  refusal,
  startImageGateway,
  type ImageGateway,
} from './helpers/image-gateway.js';
import { JPEG, PNG } from './helpers/image-bytes.js';

const GOOD = { model: 'painter', prompt: 'A cat' };
const B64 = PNG.toString('base64');

/** What the upstream gives, as the wire says it. */
const given = (...data: object[]): Step => json(200, { data });

describe('an image in the format of the request', () => {
  let gallery: ImageGateway;
  /** A store of files that the manifest knows, and one that it does not. */
  let files: FakeUpstream;
  let stranger: FakeUpstream;
  let serve: (path: string) => Step;

  before(async () => {
    files = await startUpstream(async ({ path }, response) => {
      const { status = 200, headers = {}, body = '' } = serve(path);
      response.writeHead(status, headers).end(body);
      await Promise.resolve();
    });
    stranger = await startUpstream({ body: PNG });
    const host = new URL(files.url).host;
    gallery = await startImageGateway({
      manifest: `wire: { free_sizes: true, image_hosts: ["${host}"] }`,
      settings: 'limits: { image_bytes: 2kb }',
    });
  });
  after(async () => {
    await gallery.close();
    await files.close();
    await stranger.close();
  });
  beforeEach(() => {
    serve = () => ({ body: PNG });
  });
  afterEach(() => gallery.settled());

  const ask = async (step: Step, response_format = 'b64_json') => {
    gallery.paint = ({ path }) => (path === '/images/generations' ? step : serve(path));
    return gallery.post({ ...GOOD, response_format });
  };

  it('is the URL that the upstream gave, where every client can open it', async () => {
    const url = 'https://pictures.example.com/a%20b.png?sig=1&x=2';
    const { data } = imagesOf(await ask(given({ url }), 'url'));
    expect(data).to.deep.equal([{ url, revised_prompt: 'A cat' }]);
  });

  it('is decoded from a data URL', async () => {
    const step = given({ b64_json: `data:image/png;base64,${B64}` });
    expect(imagesOf(await ask(step)).data[0]?.b64_json).to.equal(B64);
    const url = imagesOf(await ask(step, 'url')).data[0]?.url ?? '';
    expect((await browse(gallery, url)).headers.get('content-type')).to.equal('image/png');
  });

  it('is fetched from the provider itself with its key', async () => {
    const step = given({ url: `${gallery.first.url}/files/1.png` });
    expect(imagesOf(await ask(step)).data[0]?.b64_json).to.equal(B64);
    const received = gallery.first.requests.at(-1);
    expect(received).to.include({ method: 'GET', path: '/files/1.png' });
    expect(received?.headers.authorization).to.match(/^Bearer /u);
  });

  it('is fetched and kept where only the gateway can open it', async () => {
    const step = given({ url: `${gallery.first.url}/files/1.png` });
    const url = imagesOf(await ask(step, 'url')).data[0]?.url ?? '';
    expect(url).not.to.include(gallery.first.url);
    expect(Buffer.from(await (await browse(gallery, url)).arrayBuffer())).to.deep.equal(PNG);
  });

  it("is fetched from the manifest's stores of files without a key", async () => {
    serve = () => ({ body: JPEG });
    const step = given({ url: `${files.url}/1.jpg` });
    expect(imagesOf(await ask(step)).data[0]?.b64_json).to.equal(JPEG.toString('base64'));
    const headers = files.requests.at(-1)?.headers ?? {};
    expect(headers).not.to.have.property('authorization');
  });

  it('is fetched through a redirect that leaves the provider, and the key stays', async () => {
    serve = (path) =>
      path === '/files/1.png'
        ? { status: 302, headers: { location: `${files.url}/moved.png` } }
        : { body: PNG };
    const step = given({ url: `${gallery.first.url}/files/1.png` });
    expect(imagesOf(await ask(step)).data[0]?.b64_json).to.equal(B64);
    expect(files.requests.at(-1)?.path).to.equal('/moved.png');
    expect(files.requests.at(-1)?.headers).not.to.have.property('authorization');
  });

  it('is never fetched from an address that only the gateway can reach', async () => {
    const before = (await gallery.charges()).length;
    const urls = [stranger.url, stranger.url.replace('127.0.0.1', 'localhost')];
    for (const url of urls) {
      for (const form of ['url', 'b64_json']) {
        const answer = await ask(given({ url: `${url}/1.png` }), form);
        expect(refusal(answer)[0]).to.equal(502);
        expect(answer.text).not.to.include(url);
      }
    }
    serve = () => ({ status: 302, headers: { location: `${stranger.url}/1.png` } });
    expect(refusal(await ask(given({ url: `${files.url}/1.png` })))[0]).to.equal(502);
    expect(stranger.sockets).to.equal(0);
    expect(await gallery.charges()).to.have.length(before);
  });

  const FAILURES: [string, (path: string) => Step][] = [
    ['is missing', () => ({ status: 404, body: 'no' })],
    ['is refused', () => ({ status: 400, body: '{"error":{"message":"Bad"}}' })],
    ['is too large', () => ({ body: Buffer.alloc(2_049, 1) })],
    ['is empty', () => ({ body: '' })],
    ['is moved for ever', (path) => ({ status: 301, headers: { location: `${path}x` } })],
    ['is moved to a file', () => ({ status: 301, headers: { location: 'file:///etc/passwd' } })],
    ['is moved to nowhere', () => ({ status: 301 })],
    ['is a page', () => ({ headers: { 'content-type': 'text/html' }, body: '<p>Sign in</p>' })],
    ['is JSON', () => ({ headers: { 'content-type': 'application/json' }, body: '{"a":1}' })],
  ];
  for (const [what, step] of FAILURES) {
    it(`is 502 where it ${what}, and is not paid for`, async () => {
      const before = (await gallery.charges()).length;
      serve = step;
      const answer = await ask(given({ url: `${files.url}/1.png` }));
      expect(refusal(answer)).to.deep.equal([502, 'upstream_error', null]);
      expect(await gallery.charges()).to.have.length(before);
    });
  }

  it('is left out where another one could be fetched', async () => {
    serve = (path) => (path === '/1.png' ? { body: PNG } : { status: 404 });
    const before = (await gallery.charges()).length;
    gallery.paint = () => given({ url: `${files.url}/1.png` }, { url: `${files.url}/2.png` });
    const answer = await gallery.post({ ...GOOD, n: 2, response_format: 'b64_json' });
    expect(imagesOf(answer).data).to.have.length(1);
    const charges = await gallery.charges();
    expect(charges).to.have.length(before + 1);
    expect(charges.at(-1)?.amount_nano).to.equal(-40_000_000n);
  });

  for (const url of [
    '/relative.png',
    'ftp://example.com/1.png',
    'https://me:pw@example.com/1.png',
  ]) {
    it(`is none at ${url}`, async () => {
      for (const form of ['url', 'b64_json']) {
        expect(refusal(await ask(given({ url }), form))[0], form).to.equal(502);
      }
    });
  }

  it('is none, and not paid for, where its base64 is other text', async () => {
    const before = (await gallery.charges()).length;
    for (const b64_json of ['<html>no</html>', '!!! not base64 ***', `${B64.slice(0, 40)}"`]) {
      for (const form of ['url', 'b64_json']) {
        expect(refusal(await ask(given({ b64_json }), form))[0], b64_json).to.equal(502);
      }
    }
    expect(await gallery.charges()).to.have.length(before);
  });

  it('is read from base64 of any alphabet, in lines or without padding', async () => {
    const line = B64.replaceAll(/.{20}/gu, '$&\r\n');
    for (const b64_json of [line, PNG.toString('base64url'), B64.replace(/=+$/u, '')]) {
      expect(imagesOf(await ask(given({ b64_json }))).data[0]?.b64_json).to.equal(B64);
    }
  });

  it('is an image although its server calls it a page', async () => {
    serve = () => ({ headers: { 'content-type': 'text/html' }, body: PNG });
    const step = given({ url: `${files.url}/1.png` });
    expect(imagesOf(await ask(step)).data[0]?.b64_json).to.equal(B64);
  });

  it('is none where its bytes are too many', async () => {
    const step = given({ b64_json: Buffer.alloc(2_049, 1).toString('base64') });
    for (const form of ['url', 'b64_json']) expect(refusal(await ask(step, form))[0]).to.equal(502);
  });
});
