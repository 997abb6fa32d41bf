import { expect } from 'chai';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { encoded } from '../../helpers/gemini.js';

const config = (fields: Record<string, unknown>) => encoded({ fields }).body.generationConfig;

describe('the settings of a call to Gemini', () => {
  it('have the names of the wire', () => {
    const fields = {
      temperature: 1.5,
      top_p: 0.9,
      top_k: 40,
      presence_penalty: 1,
      frequency_penalty: -1,
      stop: 'END',
      seed: 7,
      logprobs: true,
      top_logprobs: 3,
    };
    const { body, ignored } = encoded({ max_tokens: 100, fields });
    expect(body.generationConfig).to.deep.equal({
      maxOutputTokens: 100,
      temperature: 1.5,
      topP: 0.9,
      topK: 40,
      presencePenalty: 1,
      frequencyPenalty: -1,
      stopSequences: ['END'],
      seed: 7,
      responseLogprobs: true,
      logprobs: 3,
    });
    expect(ignored).to.deep.equal([]);
  });

  it('take five texts to stop at, and refuse more', () => {
    const stop = ['a', 'b', 'c', 'd', 'e'];
    expect(config({ stop })).to.deep.equal({ stopSequences: stop });
    expect(() => config({ stop: [...stop, 'f'] }))
      .to.throw(UpstreamError)
      .that.includes({ fault: 'unsupported', param: 'stop' });
  });

  it('leave out a seed that does not fit, and say so', () => {
    const { body, ignored } = encoded({ fields: { seed: 2 ** 40 } });
    expect([body.generationConfig, ignored]).to.deep.equal([{}, ['seed']]);
  });

  it('ask for JSON, of a schema or of any', () => {
    const schema = { type: 'object', additionalProperties: false };
    const json_schema = { name: 'answer', strict: true, schema };
    expect(config({ response_format: { type: 'json_schema', json_schema } })).to.deep.equal({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    expect(config({ response_format: { type: 'json_object' } })).to.deep.equal({
      responseMimeType: 'application/json',
    });
    expect(config({ response_format: { type: 'text' } })).to.deep.equal({});
    expect(() => config({ response_format: { type: 'grammar' } })).to.throw(UpstreamError);
  });

  it('pass over what is null', () => {
    expect(config({ temperature: null, stop: null, seed: null, logprobs: null })).to.deep.equal({});
  });
});
