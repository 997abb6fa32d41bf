import { expect } from 'chai';
import type { ProviderOperation } from '../../../src/core/provider.js';
import type { Upstream } from '../../../src/core/model.js';
import { LightAbortController } from '../../../src/lib/light-abort.js';
import type { ChatCall, ChatCodec } from '../../../src/modalities/chat/codec.js';
import { chat } from '../../../src/modalities/chat/modality.js';
import type { SendContext } from '../../../src/pipeline/work.js';
import type { Network } from '../../../src/upstream/network-types.js';
import { createNetwork } from '../../../src/upstream/network.js';
import { modelAt, FREE } from '../../billing/helpers/terms.js';
import {
  providerAt,
  startUpstream,
  upstreamAt,
  type FakeUpstream,
} from '../../helpers/upstream.js';

const GIF = Buffer.from('GIF89a and so on');
const URL_OUTSIDE = 'http://pictures.example.com/a.gif';
const DATA_URL = `data:image/gif;base64,${GIF.toString('base64')}`;

describe('a chat request with image URLs', () => {
  let network: Network;
  let server: FakeUpstream;
  const encoded: ChatCall[] = [];
  const codec: ChatCodec = {
    encode: (call) => {
      encoded.push(call);
      return { path: '/chat', body: {} };
    },
    decode: () => ({ choices: [], usage: undefined }),
    decodeStream: () => ({ read: () => true, end: () => undefined }),
  };

  before(async () => {
    const real = createNetwork({ connections: 8, idle_ms: 1_000 });
    server = await startUpstream(({ path }, response) => {
      response.writeHead(path === '/a.gif' ? 200 : 500).end(GIF);
    });
    network = {
      send: (provider, request, signal) =>
        real.send(provider, { ...request, path: request.path.replace(/^.*[.]com/u, '') }, signal),
      close: () => real.close(),
    };
    const send = network.send.bind(network);
    network.send = (provider, request, signal) =>
      send({ ...provider, base_url: server.url }, request, signal);
  });
  after(async () => {
    await server.close();
    await network.close();
  });
  beforeEach(() => {
    encoded.splice(0);
    server.requests.splice(0);
  });

  function upstreamWith(more: Partial<ProviderOperation>): Upstream {
    const operation = { path: '/chat', codec, max: Infinity, ...more };
    return upstreamAt(providerAt(server.url, { operations: new Map([['chat', operation]]) }));
  }

  async function sendTo(...upstreams: Upstream[]): Promise<void> {
    const image = { type: 'image_url', image_url: { url: URL_OUTSIDE } };
    const body = { model: 'm', messages: [{ role: 'user', content: [image] }] };
    const model = { ...modelAt([FREE]), upstreams };
    const work = chat.plan({ format: 'chat-completion', body } as never, model);
    const limits = { fetch_ms: 5_000, fetch_bytes: 10_000, fetch_urls: 9, answer_bytes: 10_000 };
    const services = { configuration: { limits }, network, now: () => 0 };
    const client = { signal: new LightAbortController() };
    const context = { request_id: 'r', hold: { amount_nano: null }, client, services };
    for (const upstream of upstreams) {
      await work.send(upstream, context as unknown as SendContext).catch(() => undefined);
    }
  }

  const sent = (): unknown[] => encoded.map(({ messages }) => messages[0]?.content?.[0]);
  const part = (url: string): object => ({ type: 'image_url', image_url: { url } });

  it('goes out with bytes where the manifest says so, fetched once for all upstreams', async () => {
    const bytes = upstreamWith({ image_urls: 'bytes' });
    await sendTo(bytes, upstreamWith({}), bytes);
    expect(sent()).to.deep.equal([part(DATA_URL), part(URL_OUTSIDE), part(DATA_URL)]);
    const fetched = server.requests.filter(({ path }) => path === '/a.gif');
    expect(fetched).to.have.length(1);
  });

  it('goes out with its URLs, fetched by nobody, where the upstream follows them', async () => {
    await sendTo(upstreamWith({}));
    expect(sent()).to.deep.equal([part(URL_OUTSIDE)]);
    expect(server.requests.map(({ path }) => path)).to.deep.equal(['/chat']);
  });
});
