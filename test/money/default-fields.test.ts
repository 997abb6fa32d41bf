import { expect } from 'chai';
import { startPaidGateway, type PaidGateway } from '../helpers/paid-gateway.js';
import { chatJson, type Step } from '../helpers/upstream.js';

const PRICE = 'price: { input_per_million: 1, output_per_million: 2 }';
const MODELS = `
  m:
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: up, model: up-m }]
    default: { temperature: 0.3, stop: [END], parallel_tool_calls: false }
    ${PRICE}
  own:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: up, model: up-m, default: { temperature: 0.9 }, set: { top_p: 0.5 } }]
    default: { temperature: 0.3, top_p: 1 }
    ${PRICE}
  gem: { owner: acme, capabilities: [chat], upstreams: [{ provider: google }], default: { temperature: 0.3 }, ${PRICE} }
  vector: { owner: acme, capabilities: [embedding], upstreams: [{ provider: up }], default: { dimensions: 2 }, price: { input_per_million: 1 } }
  voice: { owner: acme, capabilities: [speech], upstreams: [{ provider: up }], default: { speed: 1.5 }, price: { per_million_characters: 15 } }
  painter:
    owner: acme
    capabilities: [image]
    upstreams: [{ provider: up, default: { quality: hd } }]
    default: { quality: standard }
    price: { per_image: { standard: 0.04, hd: 0.08 } }
  film: { owner: acme, capabilities: [video], upstreams: [{ provider: simulator }], default: { duration_seconds: 4 }, price: { per_video_second: 0.1 } }
`;

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const USAGE = { usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } };
const ANSWER = chatJson('Hi', USAGE);

/** The path and body of a client that sends no temperature, and the field that sends one. */
const FORMATS: [path: string, body: object, own: object][] = [
  ['/v1/chat/completions', { messages: MESSAGES }, { temperature: 1 }],
  ['/v1/messages', { messages: MESSAGES, max_tokens: 9 }, { temperature: 1 }],
  ['/v1/responses', { input: 'Hi' }, { temperature: 1 }],
  [
    '/v1beta/models/m:generateContent',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    { generationConfig: { temperature: 1 } },
  ],
];

describe('the default fields of a model', () => {
  let paid: PaidGateway;
  before(async () => (paid = await startPaidGateway(MODELS)));
  after(() => paid.close());

  const sent = async (path: string, body: object, step: Step = ANSWER) => {
    paid.step = step;
    const { status, text, headers } = await paid.post(path, body);
    expect(status, text).to.equal(200);
    expect(headers.get('tollgate-ignored')).to.equal(null);
    return paid.upstream.requests.at(-1)?.json as Record<string, unknown>;
  };

  for (const [path, body, own] of FORMATS) {
    it(`are sent where a client of ${path} sent none, and give way to its own`, async () => {
      const named = path.includes(':') ? body : { model: 'm', ...body };
      expect(await sent(path, named)).to.include({ temperature: 0.3 });
      expect(await sent(path, { ...named, ...own })).to.include({ temperature: 1 });
    });
  }

  it('speak of tools only where the client offers some', async () => {
    const body = { model: 'm', messages: MESSAGES };
    expect(await sent('/v1/chat/completions', body)).not.to.have.property('parallel_tool_calls');
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const offered = await sent('/v1/chat/completions', { ...body, tools });
    expect(offered).to.include({ parallel_tool_calls: false });
  });

  it('of an upstream entry win over those of the model, and set over both', async () => {
    const body = { model: 'own', messages: MESSAGES };
    const got = await sent('/v1/chat/completions', body);
    expect(got).to.include({ temperature: 0.9, top_p: 0.5 });
  });

  it('are written in the form of the upstream', async () => {
    const reply = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] };
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
    const step = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...reply, usageMetadata }),
    };
    const got = await sent('/v1/chat/completions', { model: 'gem', messages: MESSAGES }, step);
    expect(got.generationConfig).to.include({ temperature: 0.3 });
  });

  it('reach an upstream of embeddings and of speech', async () => {
    const step = {
      headers: { 'content-type': 'application/json' },
      body: '{"data":[{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":5,"total_tokens":5}}',
    };
    expect(await sent('/v1/embeddings', { model: 'vector', input: 'Hi' }, step)).to.include({
      dimensions: 2,
    });
    const sound = { headers: { 'content-type': 'audio/mpeg' }, body: 'sound' };
    const said = { model: 'voice', input: 'Hi', voice: 'alloy' };
    expect(await sent('/v1/audio/speech', said, sound)).to.include({ speed: 1.5 });
    expect(await sent('/v1/audio/speech', { ...said, speed: 2 }, sound)).to.include({ speed: 2 });
  });

  it('are held and charged like the values of a client', async () => {
    const step = {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: [{ b64_json: 'aGk=' }] }),
    };
    const body = { model: 'painter', prompt: 'A sea', response_format: 'b64_json' };
    await sent('/v1/images/generations', body, step);
    await sent('/v1/images/generations', { ...body, quality: 'standard' }, step);
    expect((await paid.charged()).slice(-2)).to.deep.equal([80_000_000n, 40_000_000n]);
    const { store } = paid.gateway;
    await paid.post('/v1/queue/film', { prompt: 'A sea' });
    expect((await store.account(paid.account.id))?.held_nano).to.equal(400_000_000n);
    expect((await store.verify()).faults).to.deep.equal([]);
  });
});
