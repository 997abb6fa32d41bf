import { expect } from 'chai';
import OpenAI from 'openai';
import {
  eachEmbedder,
  embeddingsJson,
  refusal,
  startEmbedder,
  TOKEN_NANO,
  type Embedder,
} from './helpers.js';

/** [what is wrong, what it changes of a good body, code, param] */
const WRONG: [string, object, string, string][] = [
  ['no input', { input: undefined }, 'invalid_request', 'input'],
  ['an empty text', { input: '' }, 'invalid_request', 'input'],
  ['an empty list', { input: [] }, 'invalid_request', 'input'],
  ['an empty text in a list', { input: ['a', ''] }, 'invalid_request', 'input[1]'],
  ['an empty token list', { input: [[1], []] }, 'invalid_request', 'input[1]'],
  ['a mixture', { input: ['a', 1] }, 'invalid_request', 'input'],
  ['a mixture of lists', { input: ['a', [1]] }, 'invalid_request', 'input'],
  ['half a token', { input: [1.5] }, 'invalid_request', 'input[0]'],
  ['too many inputs', { input: Array(2_049).fill('a') }, 'invalid_request', 'input'],
  ['too many tokens', { input: Array(11).fill(1) }, 'context_length_exceeded', 'input'],
  [
    'too many tokens of one',
    { input: [[1], Array(11).fill(1)] },
    'context_length_exceeded',
    'input[1]',
  ],
  ['too long a text', { input: 'a'.repeat(1_281) }, 'context_length_exceeded', 'input'],
  ['no dimensions', { dimensions: 0 }, 'invalid_request', 'dimensions'],
  ['an unknown encoding', { encoding_format: 'hex' }, 'invalid_request', 'encoding_format'],
  ['an unknown model', { model: 'none' }, 'model_not_found', 'model'],
  ['a model of another kind', { model: 'talk' }, 'unsupported_capability', 'model'],
];

describe('POST /v1/embeddings', () => {
  let embedder: Embedder;
  eachEmbedder(
    (made) => (embedder = made),
    () => embedder,
  );

  it("answers in OpenAI's words, and charges what the upstream counted", async () => {
    const answer = await embedder.embeddings({ model: 'vectors', input: 'Hello' });
    expect(answer).to.deep.equal({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [1, 0.5] }],
      model: 'vectors',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    });
    expect(await embedder.charged()).to.deep.equal([3n * TOKEN_NANO]);
    expect(embedder.upstream.requests[0]).to.deep.include({ path: '/embeddings' });
    expect(embedder.upstream.requests[0]?.json).to.deep.equal({
      model: 'e-1',
      input: 'Hello',
      encoding_format: 'base64',
    });
  });

  it('takes null in an optional field as if the field were absent', async () => {
    const nothing = { dimensions: null, encoding_format: null, user: null };
    const answer = await embedder.embeddings({ model: 'vectors', input: 'Hello', ...nothing });
    expect(answer).to.deep.include({
      data: [{ object: 'embedding', index: 0, embedding: [1, 0.5] }],
    });
  });

  it("serves OpenAI's own client at /openai/v1 too", async () => {
    const { url, secret } = embedder;
    const client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: secret, maxRetries: 0 });
    const { data, usage } = await client.embeddings.create({ model: 'vectors', input: 'Hello' });
    expect(data[0]?.embedding).to.deep.equal([1, 0.5]);
    expect(usage).to.deep.equal({ prompt_tokens: 3, total_tokens: 3 });
    expect(await embedder.charged()).to.deep.equal([3n * TOKEN_NANO]);
  });

  it('gives the form that was asked for, whichever the upstream gives', async () => {
    const ask = { model: 'vectors', input: 'a' };
    const packed = await embedder.embeddings({ ...ask, encoding_format: 'base64' });
    expect(packed.data[0]?.embedding).to.equal('AACAPwAAAD8=');
    embedder.step = embeddingsJson(['AACAPwAAAD8='], { prompt_tokens: 1 });
    const floats = await embedder.embeddings({ ...ask, encoding_format: 'float' });
    expect(floats.data[0]?.embedding).to.deep.equal([1, 0.5]);
  });

  for (const [what, input, sent] of [
    ['a text', 'a', 'a'],
    ['a list of texts', ['a', 'b'], ['a', 'b']],
    ['a token list', [1, 2, 3], [1, 2, 3]],
    ['a list of token lists', [[1, 2], [3]], [[1, 2], [3]]],
  ] as const) {
    it(`takes ${what}`, async () => {
      const vectors = what.startsWith('a list') ? [[1], [2]] : [[1]];
      embedder.step = embeddingsJson(vectors, { prompt_tokens: 3 });
      const { data } = await embedder.embeddings({ model: 'vectors', input });
      expect(data.map(({ embedding }) => embedding)).to.deep.equal(vectors);
      expect(embedder.upstream.requests[0]?.json).to.deep.include({ input: sent });
    });
  }

  it('sends dimensions, user and passthrough fields, and names what it leaves out', async () => {
    const body = { input: 'a', dimensions: 2, user: 'u-1', truncate: true, other: 1 };
    const answer = await embedder.post({ model: 'open', ...body });
    expect(answer.headers.get('tollgate-ignored')).to.equal('other');
    expect(embedder.upstream.requests[0]?.json).to.deep.include({
      dimensions: 2,
      user: 'u-1',
      truncate: true,
    });
  });

  it('charges nothing for a free model', async () => {
    const { usage } = await embedder.embeddings({ model: 'free', input: 'a' });
    expect([usage.prompt_tokens, await embedder.charged()]).to.deep.equal([3, []]);
  });

  it('charges an estimate where the upstream gives no usage', async () => {
    embedder.step = embeddingsJson([[1]]);
    const { usage } = await embedder.embeddings({ model: 'vectors', input: [5, 6, 7, 8] });
    expect(usage).to.deep.equal({ prompt_tokens: 4, total_tokens: 4 });
    expect(await embedder.charged()).to.deep.equal([4n * TOKEN_NANO]);
  });

  it('is refused with 402 where the credit is less than the hold, and goes nowhere', async () => {
    const poor = await embedder.gateway.store.createAccount('poor', 1n);
    const { secret } = await embedder.gateway.store.createKey(poor.id, 'k');
    const authorization = `Bearer ${secret}`;
    const answer = await embedder.post({ model: 'vectors', input: 'a' }, { authorization });
    expect(answer.status).to.equal(402);
    expect(embedder.upstream.requests).to.have.length(0);
  });

  it('charges nothing for an answer that is broken', async () => {
    embedder.step = embeddingsJson([[1], [2]], { prompt_tokens: 3 });
    const answer = await embedder.post({ model: 'vectors', input: 'a' });
    expect([answer.status, await embedder.charged()]).to.deep.equal([502, []]);
  });

  it('is made and charged once under one Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'k-1' };
    const body = { model: 'vectors', input: 'a' };
    const first = await embedder.post(body, key);
    const again = await embedder.post(body, key);
    expect(again.text).to.equal(first.text);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(embedder.upstream.requests).to.have.length(1);
    expect(await embedder.charged()).to.deep.equal([3n * TOKEN_NANO]);
  });
});

describe('POST /v1/embeddings refuses, naming the field,', () => {
  let embedder: Embedder;
  before(async () => {
    embedder = await startEmbedder();
  });
  after(() => embedder.close());

  for (const [what, body, code, param] of WRONG) {
    it(what, async () => {
      const answer = await embedder.post({ model: 'vectors', input: 'a', ...body });
      expect(refusal(answer)).to.deep.equal([answer.status, code, param]);
      expect(answer.status).to.be.within(400, 404);
      expect(embedder.upstream.requests).to.have.length(0);
    });
  }
});
