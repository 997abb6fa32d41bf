import { expect } from 'chai';
import { chat, embedding, image } from '../../providers/azure.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const upstream = upstreamAt(
  providerAt('http://fake.invalid', { wire: { api_version: '2024-10-21' } }),
  { model: 'my gpt/4o' },
);
const QUERY = '?api-version=2024-10-21';
const PATH = '/deployments/my%20gpt%2F4o';

describe('the dated paths of Azure', () => {
  it('name the deployment, for chat, embeddings and images', () => {
    const call = { messages: [], stream: false, n: 1, max_tokens: 9, fields: {} };
    expect(chat.encode(call, upstream)).to.deep.include({
      path: `${PATH}/chat/completions${QUERY}`,
      body: { model: 'my gpt/4o', messages: [], stream: false, max_tokens: 9 },
    });
    const texts = {
      inputs: ['a'],
      dimensions: undefined,
      encoding_format: 'float' as const,
      fields: {},
    };
    expect(embedding.encode(texts, upstream)).to.include({ path: `${PATH}/embeddings${QUERY}` });
    const wish = {
      prompt: 'a cat',
      n: 1,
      size: undefined,
      quality: undefined,
      style: undefined,
      response_format: 'url' as const,
      fields: {},
    };
    expect(image.encode(wish, upstream)).to.include({ path: `${PATH}/images/generations${QUERY}` });
  });
});
