import { expect } from 'chai';
import { embedding } from '../../providers/openai-embedding.js';
import type { EmbeddingCall } from '../../src/modalities/embedding/codec.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const CALL: EmbeddingCall = {
  inputs: ['a', 'b'],
  dimensions: 2,
  encoding_format: 'float',
  fields: { user: 'u-1' },
};
const provider = providerAt('https://upstream.example.com');
const base64 = providerAt('https://upstream.example.com', { wire: { embedding_base64: true } });
const at = upstreamAt(provider, { model: 'e-1' });

function decoded(data: unknown, call = CALL): readonly unknown[] {
  return embedding.decode({ data, usage: { prompt_tokens: 2 } }, call, at).vectors;
}

describe('the embeddings wire', () => {
  it('says the call in the words of the upstream', () => {
    const { body } = embedding.encode(CALL, at);
    expect(body).to.deep.equal({ user: 'u-1', dimensions: 2, model: 'e-1', input: ['a', 'b'] });
  });

  it('asks for base64 where the manifest says that the upstream gives it', () => {
    const { body } = embedding.encode(CALL, upstreamAt(base64));
    expect(body.encoding_format).to.equal('base64');
  });

  it('sends one input by itself, also where it is a token list', () => {
    const { body } = embedding.encode({ ...CALL, inputs: [[1, 2]] }, at);
    expect(body.input).to.deep.equal([1, 2]);
  });

  it('drops, renames and sets fields, and keeps what the gateway decides', () => {
    const rename = { dimensions: 'output_dimension' };
    const more = { drop: ['user'], rename, set: { input: 'x', truncate: true } };
    const { body } = embedding.encode(CALL, upstreamAt(provider, { model: 'e-1', ...more }));
    expect(body).to.deep.equal({
      output_dimension: 2,
      truncate: true,
      model: 'e-1',
      input: ['a', 'b'],
    });
  });

  it('puts embeddings in the order of their indexes', () => {
    const data = [
      { index: 1, embedding: [2] },
      { index: 0, embedding: [1] },
    ];
    expect(decoded(data)).to.deep.equal([[1], [2]]);
    const usage = embedding.decode({ data, usage: { prompt_tokens: 2 } }, CALL, at).usage;
    expect(usage).to.deep.equal({ prompt_tokens: 2, completion_tokens: 0 });
  });

  it('takes them as they come where the indexes say nothing', () => {
    expect(decoded([{ embedding: [2] }, { embedding: 'AACAPw==' }])).to.deep.equal([
      [2],
      'AACAPw==',
    ]);
  });

  for (const [what, data] of [
    ['fewer than the inputs', [{ embedding: [1] }]],
    ['an empty one', [{ embedding: [] }, { embedding: [1] }]],
    ['one with a word in it', [{ embedding: ['1'] }, { embedding: [1] }]],
    ['base64 of half a number', [{ embedding: 'AACA' }, { embedding: [1] }]],
    ['a text that is no base64', [{ embedding: '####' }, { embedding: [1] }]],
    ['no list', undefined],
  ] as const) {
    it(`is broken by ${what}`, () => {
      expect(() => decoded(data)).to.throw(UpstreamError);
    });
  }
});
