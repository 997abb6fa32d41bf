import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { ClientDisconnected, GatewayError } from '../../../src/core/errors.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { LightAbortController } from '../../../src/lib/light-abort.js';
import { inlineUrls } from '../../../src/modalities/chat/inline-urls.js';
import type { ChatMessage, ContentPart } from '../../../src/schema-types/chat-completion.js';
import type { Network } from '../../../src/upstream/network-types.js';
import { createNetwork } from '../../../src/upstream/network.js';
import { until } from '../../helpers/until.js';
import {
  providerAt,
  startUpstream,
  type FakeUpstream,
  play,
  type Step,
} from '../../helpers/upstream.js';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(300)]);
const PDF = Buffer.from('%PDF-1.7 and so on');
const LIMITS = { fetch_ms: 5_000, fetch_bytes: 10_000, fetch_urls: 3 };
const HOST = 'http://pictures.example.com';

const image = (url: string): ContentPart => ({ type: 'image_url', image_url: { url } });
const file = (file_data: string): ContentPart => ({ type: 'file', file: { file_data } });
const user = (...content: ContentPart[]): ChatMessage => ({ role: 'user', content });
const data = (type: string, bytes: Buffer): string =>
  `data:${type};base64,${bytes.toString('base64')}`;

describe('URLs of a request for an upstream that follows none', () => {
  let network: Network;
  let pictures: FakeUpstream;
  const never = new Promise<void>(() => undefined);
  const files: Record<string, Step> = {
    '/a.png': { headers: { 'content-type': 'text/plain' }, body: PNG },
    '/moved': { status: 302, headers: { location: '/a.png' } },
    '/inside': { status: 302, headers: { location: 'http://127.0.0.1:1/secret' } },
    '/page': { headers: { 'content-type': 'image/png' }, body: '<html>' },
    '/a.pdf': { body: PDF },
    '/large.png': { body: Buffer.concat([PNG, randomBytes(10_000)]) },
    '/half.png': { body: Buffer.concat([PNG, randomBytes(6_000)]) },
    '/half2.png': { body: Buffer.concat([PNG, randomBytes(6_000)]) },
    '/slow': { hold: never },
    '/none': { status: 404, body: 'none' },
  };

  before(async () => {
    const real = createNetwork({ connections: 8, idle_ms: 1_000 });
    pictures = await startUpstream((received, response) =>
      play(files[received.path] ?? { status: 500 }, response),
    );
    // One name of the Internet leads to this machine; all others meet the guard.
    const inside = providerAt(pictures.url);
    network = {
      send: (provider, request, signal) =>
        request.path.startsWith(`${HOST}/`)
          ? real.send(inside, { ...request, path: request.path.slice(HOST.length) }, signal)
          : real.send(provider, request, signal),
      close: () => real.close(),
    };
  });
  after(async () => {
    await pictures.close();
    await network.close();
  });

  const signal = new LightAbortController();
  const inline = (messages: ChatMessage[], limits = LIMITS): Promise<ChatMessage[]> =>
    inlineUrls(messages, limits, network, { signal });

  async function refusalOf(messages: ChatMessage[], limits = LIMITS): Promise<GatewayError> {
    const error: unknown = await inline(messages, limits).catch((failed: unknown) => failed);
    expect(error).to.be.instanceOf(GatewayError);
    return error as GatewayError;
  }

  it('become data: URLs of the type that their bytes show, and all else stays', async () => {
    const text = { role: 'system', content: 'Look!' } as const;
    const moved = [image(`${HOST}/moved`)];
    const tool: ChatMessage = { role: 'tool', tool_call_id: 'a', content: moved };
    const own = image(data('image/gif', Buffer.from('GIF89a')));
    const detailed = {
      type: 'image_url' as const,
      image_url: { url: `${HOST}/a.png`, detail: 'low' },
      cache_control: { type: 'ephemeral' },
    };
    const messages = [text, user(own, detailed, file(`${HOST}/a.pdf`)), tool];
    const read = await inline(messages);
    expect(read[0]).to.equal(text);
    expect(read[1]?.content).to.deep.equal([
      own,
      { ...detailed, image_url: { url: data('image/png', PNG), detail: 'low' } },
      file(data('application/pdf', PDF)),
    ]);
    expect(read[2]?.content).to.deep.equal([image(data('image/png', PNG))]);
    expect(messages[1]?.content?.[1]).to.equal(detailed);
    expect(detailed.image_url.url).to.equal(`${HOST}/a.png`);
  });

  it('are fetched once each, without credentials', async () => {
    const before = pictures.requests.length;
    await inline([
      user(image(`${HOST}/a.png`), image(`${HOST}/a.png`)),
      user(image(`${HOST}/a.png`)),
    ]);
    const asked = pictures.requests.slice(before);
    expect(asked.map(({ path }) => path)).to.deep.equal(['/a.png']);
    expect(asked[0]?.headers).not.to.have.any.keys('authorization', 'cookie');
  });

  const table: [string, string, string][] = [
    ['gives no image', '/page', 'leads to no PNG, JPEG, GIF or WebP'],
    ['is refused', '/none', 'is answered with status 404'],
    ['is redirected to a private address', '/inside', 'leads to an address that is not public'],
    ['gives too much', '/large.png', 'is more than the 10000 bytes'],
  ];
  for (const [what, path, why] of table) {
    it(`are 400, naming the part, where one ${what}`, async () => {
      const refusal = await refusalOf([user(image(`${HOST}/a.png`), image(HOST + path))]);
      expect(refusal.toJSON().error).to.include({
        code: 'invalid_request',
        param: 'messages[0].content[1].image_url.url',
      });
      expect(refusal.message).to.contain(why);
    });
  }

  it('are 400 where a name leads to a private address', async () => {
    const refusal = await refusalOf([user(image('http://127.0.0.1:1/a.png'))]);
    expect(refusal.message).to.contain('leads to an address that is not public');
  });

  it('are 400 where a file is no PDF', async () => {
    const refusal = await refusalOf([user(file(`${HOST}/a.png`))]);
    expect(refusal.param).to.equal('messages[0].content[0].file.file_data');
  });

  it('are 400 where they weigh too much together', async () => {
    const refusal = await refusalOf([user(image(`${HOST}/half.png`), image(`${HOST}/half2.png`))]);
    expect(refusal.message).to.contain('bytes that the files of a request may weigh');
  });

  it('are 400 where there are too many of them', async () => {
    const many = [1, 2, 3, 4].map((at) => image(`${HOST}/a.png?${at}`));
    const refusal = await refusalOf([user(...many)]);
    expect(refusal.param).to.equal('messages[0].content[3].image_url.url');
    expect(refusal.message).to.contain('more than 3 URLs');
  });

  it('are 400 where one takes too long, and its connection is closed', async () => {
    const limits = { ...LIMITS, fetch_ms: 100 };
    const refusal = await refusalOf([user(image(`${HOST}/slow`))], limits);
    expect(refusal.message).to.contain('took too long');
    expect(await pictures.requests.at(-1)?.closed).to.equal(false);
  });

  it('are left alone when the client goes', async () => {
    const leaving = new LightAbortController();
    const reading = inlineUrls([user(image(`${HOST}/slow`))], LIMITS, network, { signal: leaving });
    const gone = new Error('gone');
    leaving.abort(gone);
    expect(await reading.catch((error: unknown) => error)).to.equal(gone);
  });

  it('are not billed as a prompt when the client goes while they are fetched', async () => {
    const leaving = new LightAbortController();
    const before = pictures.requests.length;
    const reading = inlineUrls([user(image(`${HOST}/slow`))], LIMITS, network, { signal: leaving });
    await until(() => pictures.requests.length > before, 'the file is asked for');
    leaving.abort(new ClientDisconnected());
    const error: unknown = await reading.catch((failed: unknown) => failed);
    expect(error).to.be.instanceOf(ClientDisconnected).and.to.include({ before_sent: true });
  });

  it('end in what the memory budget says where it is full', async () => {
    const full = new GatewayError('overloaded', 'No room.');
    const memory = {
      grow: () => {
        throw full;
      },
    };
    const limits = { ...LIMITS, fetch_bytes: 1_000_000 };
    files['/huge.png'] = { body: Buffer.concat([PNG, randomBytes(300_000)]) };
    const reading = inlineUrls([user(image(`${HOST}/huge.png`))], limits, network, {
      signal,
      memory,
    });
    expect(await reading.catch((error: unknown) => error)).to.equal(full);
    expect(full).not.to.be.instanceOf(UpstreamError);
  });
});
