import { expect } from 'chai';
import { GoogleGenAI } from '@google/genai';
import { ask, type Answer } from '../../helpers/ask.js';
import { expectShape } from '../../helpers/schemas.js';
import {
  eachEmbedder,
  embeddingsJson,
  startEmbedder,
  TOKEN_NANO,
  type Embedder,
} from './helpers.js';

const text = (words: string) => ({ parts: [{ text: words }] });
const ONE = { content: text('Hello') };
const BATCH = { requests: [{ content: text('Hello') }, { content: text('Goodbye') }] };

/** [what is wrong, the method, the body, what the message says] */
const WRONG: [string, string, object, string][] = [
  ['no content', 'embedContent', {}, 'content is required'],
  ['no part', 'embedContent', { content: { parts: [] } }, 'content.parts'],
  ['an empty text', 'embedContent', { content: text('') }, 'content must not be empty'],
  [
    'an image',
    'embedContent',
    {
      content: { parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
    },
    'content.parts[1] must be a text',
  ],
  ['too long a text', 'embedContent', { content: text('a'.repeat(1_281)) }, 'content has more'],
  ['no dimensions', 'embedContent', { ...ONE, outputDimensionality: 0 }, 'outputDimensionality'],
  ['another model', 'embedContent', { ...ONE, model: 'models/free' }, 'model must be the model'],
  ['no requests', 'batchEmbedContents', { requests: [] }, 'requests'],
  [
    'too many requests',
    'batchEmbedContents',
    { requests: Array<object>(2_049).fill(ONE) },
    'requests must be a list of at most 2048',
  ],
  [
    'another model in one request',
    'batchEmbedContents',
    { requests: [ONE, { ...ONE, model: 'models/free' }] },
    'requests[1].model must be the model',
  ],
  [
    'an empty text in one request',
    'batchEmbedContents',
    { requests: [ONE, { content: text('') }] },
    'requests[1].content must not be empty',
  ],
  [
    'different dimensions',
    'batchEmbedContents',
    { requests: [{ ...ONE, outputDimensionality: 2 }, ONE] },
    'requests[1].outputDimensionality must be the same in all requests',
  ],
];

describe("the Gemini API's embeddings", () => {
  let embedder: Embedder;
  eachEmbedder(
    (made) => (embedder = made),
    () => embedder,
  );

  const post = (method: string, body: object, model = 'vectors', version = 'v1beta') =>
    ask(embedder, `/${version}/models/${model}:${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const sent = () => embedder.upstream.requests.at(-1)?.json as Record<string, unknown>;
  const good = (answer: Answer): unknown => {
    expect(answer.status, answer.text).to.equal(200);
    return JSON.parse(answer.text) as unknown;
  };

  it("are made for Google's own client, which was told 404, and charged by the token", async () => {
    const { url, secret } = embedder;
    const client = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: url } });
    const { embeddings } = await client.models.embedContent({
      model: 'vectors',
      contents: 'Hello',
      config: { outputDimensionality: 2 },
    });
    expect(embeddings).to.deep.equal([{ values: [1, 0.5] }]);
    expect(sent()).to.deep.include({ model: 'e-1', input: 'Hello', dimensions: 2 });
    embedder.step = embeddingsJson([[1], [2]], { prompt_tokens: 7 });
    const both = await client.models.embedContent({ model: 'vectors', contents: ['a', 'b'] });
    expect(both.embeddings).to.deep.equal([{ values: [1] }, { values: [2] }]);
    expect(sent()).to.deep.include({ input: ['a', 'b'] });
    expect(await embedder.charged()).to.deep.equal([3n * TOKEN_NANO, 7n * TOKEN_NANO]);
  });

  it('are listed as what a model can do', async () => {
    const { url, secret } = embedder;
    const client = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: url } });
    const { supportedActions } = await client.models.get({ model: 'vectors' });
    expect(supportedActions).to.deep.equal(['embedContent', 'batchEmbedContents']);
  });

  for (const version of ['v1beta', 'v1']) {
    it(`are charged at /${version}: one content, and many in one call`, async () => {
      const one = good(await post('embedContent', ONE, 'vectors', version));
      expectShape('embed-content#/$defs/answer', one);
      expect(one).to.deep.equal({
        embedding: { values: [1, 0.5] },
        usageMetadata: { promptTokenCount: 3 },
      });
      embedder.step = embeddingsJson(['AACAPw==', [2]], { prompt_tokens: 4 });
      const many = good(await post('batchEmbedContents', BATCH, 'vectors', version));
      expectShape('batch-embed-contents#/$defs/answer', many);
      expect(many).to.deep.equal({
        embeddings: [{ values: [1] }, { values: [2] }],
        usageMetadata: { promptTokenCount: 4 },
      });
      expect(await embedder.charged()).to.deep.equal([3n * TOKEN_NANO, 4n * TOKEN_NANO]);
    });
  }

  it('are read in snake_case too, and the texts of one content are one text', async () => {
    const content = { parts: [{ text: 'Hello' }, { text: 'world' }] };
    good(await post('embedContent', { content, output_dimensionality: 2, title: null }));
    expect(sent()).to.deep.include({ input: 'Hello\nworld', dimensions: 2 });
    const requests = [{ content, output_dimensionality: 3, model: 'models/vectors' }];
    good(await post('batchEmbedContents', { requests }));
    expect(sent()).to.deep.include({ dimensions: 3 });
  });

  it('name what is left out, and pass on what the model takes, if all requests say the same', async () => {
    const asked = { ...ONE, taskType: 'RETRIEVAL_DOCUMENT', title: 'A', truncate: true };
    const left = await post('embedContent', asked, 'open');
    expect(left.headers.get('tollgate-ignored')).to.equal('taskType, title');
    expect(sent()).to.deep.include({ truncate: true }).and.not.have.property('taskType');
    embedder.step = embeddingsJson([[1], [2]], { prompt_tokens: 2 });
    const batch = { requests: [asked, { ...asked, title: 'B' }] };
    good(await post('batchEmbedContents', batch, 'open'));
    expect(sent()).to.deep.include({ truncate: true });
    const mixed = { requests: [asked, { ...asked, truncate: false }] };
    const refused = await post('batchEmbedContents', mixed, 'open');
    expect(refused.text).to.match(/requests\[\d\]\.truncate must be the same in all requests/u);
  });

  it('have the default dimensions that gateway.yaml sets, unless the client says others', async () => {
    good(await post('embedContent', ONE, 'small'));
    expect(sent()).to.deep.include({ dimensions: 4 });
    good(await post('batchEmbedContents', { requests: [ONE] }, 'small'));
    expect(sent()).to.deep.include({ dimensions: 4 });
    good(await post('embedContent', { ...ONE, outputDimensionality: 2 }, 'small'));
    expect(sent()).to.deep.include({ dimensions: 2 });
  });

  it('cost nothing where the upstream fails, and are estimated where it counts nothing', async () => {
    embedder.step = { status: 500, body: 'no' };
    expect((await post('embedContent', ONE)).status).to.equal(502);
    expect(await embedder.charged()).to.deep.equal([]);
    embedder.step = embeddingsJson([[1]]);
    const answer = good(await post('embedContent', ONE));
    expect(answer).to.have.nested.property('usageMetadata.promptTokenCount', 1);
    expect(await embedder.charged()).to.deep.equal([TOKEN_NANO]);
  });

  for (const [what, method, body, says] of WRONG) {
    it(`refuse ${what}, in the words of that API, and ask nothing`, async () => {
      const { status, text: told } = await post(method, body);
      expect(status).to.equal(400);
      const { error } = JSON.parse(told) as { error: { message: string } };
      expect(error).to.include({ code: 400, status: 'INVALID_ARGUMENT' });
      expect(error.message).to.include(says);
      expect(embedder.upstream.requests).to.have.length(0);
    });
  }

  it('refuse a model that does not embed, and an account without money', async () => {
    expect((await post('embedContent', ONE, 'talk')).text).to.include('does not do embedding');
    await embedder.close();
    embedder = await startEmbedder('0');
    expect((await post('embedContent', ONE)).status).to.equal(402);
  });
});
