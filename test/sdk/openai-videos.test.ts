import { expect } from 'chai';
import OpenAI, { APIError, BadRequestError, NotFoundError, toFile } from 'openai';
import { PNG } from '../modalities/image/helpers/image-bytes.js';
import {
  dollars,
  MODEL,
  POLL_MS,
  startVideoGateway,
  type VideoGateway,
} from '../modalities/video/helpers/video-gateway.js';
import { REEL } from '../modalities/video/helpers/video-upstream.js';

for (const base of ['/v1', '/openai/v1']) {
  describe(`the openai package, making videos at ${base}`, () => {
    let studio: VideoGateway;
    let client: OpenAI;

    beforeEach(async () => {
      studio = await startVideoGateway();
      const { url, secret } = studio;
      client = new OpenAI({ baseURL: url + base, apiKey: secret, maxRetries: 0 });
    });
    afterEach(() => studio.close());

    const ask = { model: MODEL, prompt: 'a cat', seconds: '4', size: '1280x720' } as const;

    async function thrown(call: Promise<unknown>): Promise<APIError> {
      const error: unknown = await call.catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(APIError);
      return error as APIError;
    }

    it('creates, polls and downloads', async () => {
      studio.lab.onPoll = (film, nth) =>
        nth < 3 ? { state: 'shooting' } : { state: 'done', reels: [`/reels/${film}`] };
      let video = await client.videos.create(ask);
      expect(video).to.include({ object: 'video', status: 'queued', seconds: '4' });
      const seen: number[] = [];
      while (video.status === 'queued' || video.status === 'in_progress') {
        studio.now_ms += POLL_MS;
        video = await client.videos.retrieve(video.id);
        seen.push(video.progress);
      }
      expect(video).to.include({ status: 'completed', size: '1280x720', model: MODEL });
      expect(seen).to.deep.equal([0, 0, 100]);
      expect((await studio.books()).charges).to.deep.equal([]);
      const content = await client.videos.downloadContent(video.id);
      expect(content.headers.get('content-type')).to.equal('video/mp4');
      expect(Buffer.from(await content.arrayBuffer()).equals(REEL)).to.equal(true);
      await client.videos.downloadContent(video.id, { variant: 'video' });
      expect((await studio.books()).charges).to.deep.equal([-dollars(0.8)]);
    });

    it('begins with an image, from a file or a data: URL', async () => {
      const file = await toFile(PNG, 'cat.png', { type: 'image/png' });
      const image_url = `data:image/png;base64,${PNG.toString('base64')}`;
      for (const input_reference of [file, { image_url }]) {
        await client.videos.create({ ...ask, input_reference });
        const image = studio.lab.films.at(-1)?.body.image;
        expect(image).to.deep.equal({ base64: PNG.toString('base64'), mime_type: 'image/png' });
      }
    });

    it('begins with a large image as a file, and hears that a form has no such field', async () => {
      const large = Buffer.concat([PNG, Buffer.alloc(2 * 1024 ** 2)]);
      const file = await toFile(large, 'cat.png', { type: 'image/png' });
      await client.videos.create({ ...ask, input_reference: file });
      const image = studio.lab.films.at(-1)?.body.image as { base64: string };
      expect(image.base64 === large.toString('base64')).to.equal(true);
      const image_url = `data:image/png;base64,${image.base64}`;
      const long = await thrown(client.videos.create({ ...ask, input_reference: { image_url } }));
      expect(long).to.be.instanceOf(BadRequestError);
      expect(long.message).to.include('262144 bytes');
    });

    it('lists, over all pages', async () => {
      const made: string[] = [];
      for (let count = 0; count < 5; count += 1) {
        made.unshift((await client.videos.create(ask)).id);
        studio.now_ms += 1;
      }
      const seen: string[] = [];
      for await (const { id } of client.videos.list({ limit: 2 })) seen.push(id);
      expect(seen).to.deep.equal(made);
    });

    it('deletes', async () => {
      const { id } = await client.videos.create(ask);
      await client.videos.downloadContent(id);
      expect(await client.videos.delete(id)).to.deep.equal({
        id,
        object: 'video.deleted',
        deleted: true,
      });
      expect(await thrown(client.videos.retrieve(id))).to.be.instanceOf(NotFoundError);
    });

    it('hears why a video has failed, and pays nothing', async () => {
      studio.lab.onPoll = () => ({ state: 'broken', why: 'No light.' });
      const { id } = await client.videos.create(ask);
      const { status, error } = await client.videos.retrieve(id);
      expect([status, error?.message]).to.deep.equal(['failed', 'No light.']);
      expect(await thrown(client.videos.downloadContent(id))).to.include({
        status: 404,
        code: 'not_found',
        type: 'invalid_request_error',
      });
      expect(await studio.books()).to.deep.include({ held: 0n, charges: [] });
    });

    it('throws its own error for what is refused', async () => {
      const size = await thrown(client.videos.create({ ...ask, size: '1792x1024' }));
      expect(size).to.be.instanceOf(BadRequestError);
      expect(size).to.include({ code: 'invalid_request', param: 'size' });
      const { id } = await client.videos.create(ask);
      const variant = await thrown(client.videos.downloadContent(id, { variant: 'thumbnail' }));
      expect(variant).to.include({ status: 400, param: 'variant' });
      expect(await thrown(client.videos.remix(id, { prompt: 'x' }))).to.include({ status: 404 });
      expect(await thrown(client.videos.edit({ prompt: 'x', video: { id } }))).to.include({
        status: 405,
      });
      expect((await studio.books()).charges).to.deep.equal([]);
    });
  });
}
