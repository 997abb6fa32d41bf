import { expect } from 'chai';
import { moderation } from '../../providers/openai-moderation.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const CALL = { input: ['a'], results: 1, fields: { strict: true } };
const provider = providerAt('https://upstream.example.com');
const at = upstreamAt(provider, { model: 'judge' });

describe('the moderations wire', () => {
  it('says the call in the words of the upstream, and keeps what the gateway decides', () => {
    const more = { rename: { strict: 'mode' }, set: { model: 'x', input: 'x' } };
    const { body } = moderation.encode(CALL, upstreamAt(provider, { model: 'judge', ...more }));
    expect(body).to.deep.equal({ mode: true, model: 'judge', input: ['a'] });
  });

  it('takes an input for flagged where any category is, if nothing else is said', () => {
    const found = { categories: { hate: false, violence: true }, category_scores: {} };
    const { results } = moderation.decode({ results: [found], other: 1 }, CALL, at);
    expect(results).to.deep.equal([{ flagged: true, ...found }]);
  });

  for (const body of [{}, { results: [] }, { results: [{ flagged: true }] }, 'text', null]) {
    it(`takes ${JSON.stringify(body)} for no answer`, () => {
      expect(() => moderation.decode(body, CALL, at)).to.throw(UpstreamError);
    });
  }
});
