import { expect } from 'chai';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { errorOf } from '../../helpers/ask.js';
import { browse, painted, startImageGateway, type ImageGateway } from './helpers/image-gateway.js';
import { AVIF, GIF, JPEG, PAGE, PNG, WEBP } from './helpers/image-bytes.js';

const HOUR_MS = 3_600_000;

const TYPES: [string, Buffer, string][] = [
  ['a PNG', PNG, 'image/png'],
  ['a JPEG', JPEG, 'image/jpeg'],
  ['a GIF', GIF, 'image/gif'],
  ['a WebP', WEBP, 'image/webp'],
  ['an AVIF', AVIF, 'image/avif'],
  ['a page with a script, which no browser must run', PAGE, 'application/octet-stream'],
];

describe('a hosted image', () => {
  let gallery: ImageGateway;
  before(async () => {
    gallery = await startImageGateway({ settings: 'limits: { images_total: 1kb }' });
  });
  after(() => gallery.close());

  const make = async (bytes: Buffer): Promise<string> => {
    gallery.paint = () => painted(1, {}, bytes);
    const { data } = await gallery.images({});
    return data[0]?.url ?? '';
  };

  const notFound = async (url: string): Promise<void> => {
    const response = await browse(gallery, url);
    expect(response.status).to.equal(404);
    const { headers } = response;
    expect(errorOf({ status: 404, headers, text: await response.text() }).code).to.equal(
      'not_found',
    );
  };

  for (const [what, bytes, type] of TYPES) {
    it(`is given to a browser without a key as ${what}`, async () => {
      const response = await browse(gallery, await make(bytes));
      expect(response.status).to.equal(200);
      expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(bytes);
      expect(Object.fromEntries(response.headers)).to.include({
        'content-type': type,
        'content-length': String(bytes.length),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'private, max-age=3600, immutable',
      });
    });
  }

  it('answers HEAD without its bytes', async () => {
    const response = await browse(gallery, await make(PNG), { method: 'HEAD' });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-length')).to.equal(String(PNG.length));
    expect(await response.text()).to.equal('');
  });

  it('expires after image_ttl, and the next sweep deletes its bytes', async () => {
    const url = await make(PNG);
    gallery.now_ms += HOUR_MS - 1;
    expect((await browse(gallery, url)).headers.get('cache-control')).to.include('max-age=0,');
    gallery.now_ms += 1;
    await notFound(url);
    const { images } = gallery.gateway.store;
    expect(await images.sweep()).to.be.greaterThan(0);
    expect(await images.sweep()).to.equal(0);
    expect(readdirSync(join(gallery.folder, 'tollgate.db-images'))).to.deep.equal([]);
  });

  it('is evicted for newer ones beyond limits.images_total', async () => {
    const part = Buffer.concat([PNG, Buffer.alloc(400)]);
    const urls: string[] = [];
    for (let made = 0; made < 3; made += 1) {
      urls.push(await make(part));
      gallery.now_ms += 1;
    }
    const [oldest = '', ...kept] = urls;
    await notFound(oldest);
    for (const url of kept) expect((await browse(gallery, url)).status).to.equal(200);
    expect(readdirSync(join(gallery.folder, 'tollgate.db-images'))).to.have.length(2);
  });

  for (const name of ['nobody', '..%2ftollgate.db', '%2e%2e%2f', 'x'.repeat(300), '%00']) {
    it(`is not found under the name ${name.slice(0, 20)}`, async () => {
      // As it stands: what asks for addresses would take the dots away first.
      const asked = get(gallery.url, { path: `/images/${name}` });
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).to.equal(404);
    });
  }
});

describe('the URL of a hosted image', () => {
  it('begins with public_url and follows the endpoint of the file', async () => {
    const stages =
      'auth, validate: image-generation, route: { capability: image }, balance, transform: image, meter';
    const gallery = await startImageGateway({
      settings: `public_url: https://ai.example.com/gate
endpoints:
  images: { at: POST /v1/images/generations, stages: [${stages}] }
  hosted-images: { at: "GET /kept/{id}/raw", stages: [hosted-image] }`,
    });
    try {
      const { data } = await gallery.images({});
      const url = data[0]?.url ?? '';
      expect(url).to.match(/^https:\/\/ai\.example\.com\/gate\/kept\/[\w-]{32}\/raw$/u);
      const response = await fetch(url.replace('https://ai.example.com/gate', gallery.url));
      expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(PNG);
    } finally {
      await gallery.close();
    }
  });

  it('ends in /images/ID where the file has no endpoint for it', async () => {
    const stages =
      'auth, validate: image-generation, route: { capability: image }, balance, transform: image, meter';
    const gallery = await startImageGateway({
      settings: `endpoints: { images: { at: POST /v1/images/generations, stages: [${stages}] } }`,
    });
    try {
      const { data } = await gallery.images({});
      const { pathname } = new URL(data[0]?.url ?? '');
      expect(pathname).to.match(/^\/images\/[\w-]{32}$/u);
      const kept = await fetch(gallery.url + pathname);
      expect(Buffer.from(await kept.arrayBuffer()).equals(PNG)).to.equal(true);
    } finally {
      await gallery.close();
    }
  });
});
