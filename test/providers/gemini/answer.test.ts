import { expect } from 'chai';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { signedId } from '../../../src/lib/tool-id.js';
import { answer, decoded } from '../../helpers/gemini.js';

const only = (body: unknown) => decoded(body).choices[0];

describe('an answer of Gemini', () => {
  it('keeps thoughts apart from text', () => {
    const parts = [{ text: 'Hm.', thought: true }, { text: 'Hel' }, { text: 'lo' }];
    expect(only(answer(parts))).to.deep.equal({
      index: 0,
      content: 'Hello',
      reasoning_content: 'Hm.',
      finish_reason: 'stop',
    });
  });

  it('has tool calls, their signature in the id, which is made up where there is none', () => {
    const parts = [
      { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'QUI=' },
      { functionCall: { id: 'own', name: 'g' } },
    ];
    const [first, second] = only(answer(parts))?.tool_calls ?? [];
    expect(first?.id).to.match(/^call_[0-9a-f]{24}~ts~QUI$/u);
    expect(first?.function).to.deep.equal({ name: 'f', arguments: '{"a":1}' });
    expect(second).to.deep.equal({
      id: 'own',
      type: 'function',
      function: { name: 'g', arguments: '{}' },
    });
    expect(only(answer(parts))?.content).to.equal(null);
  });

  it('keeps the id that the upstream gave', () => {
    const parts = [{ functionCall: { id: 'a1', name: 'f' }, thoughtSignature: 'QUI=' }];
    expect(only(answer(parts))?.tool_calls?.[0]?.id).to.equal(signedId('a1', 'QUI='));
  });

  it('carries the signature of a text as a detail', () => {
    const choice = only(answer([{ text: 'Hi' }, { text: '', thoughtSignature: 'QUI=' }]));
    expect(choice?.reasoning_details).to.deep.equal([
      { type: 'reasoning.encrypted', data: 'QUI=', format: 'google-gemini-v1', index: 0 },
    ]);
  });

  it("has neither text nor calls where the upstream's own tools ran", () => {
    const parts = [
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { text: 'One.' },
    ];
    expect(only(answer(parts))).to.deep.equal({
      index: 0,
      content: 'One.',
      finish_reason: 'stop',
    });
  });

  it('has log probabilities in the words of OpenAI', () => {
    const token = { token: 'é', tokenId: 5, logProbability: -0.5 };
    const body = answer([{ text: 'é' }]) as { candidates: object[] };
    const logprobsResult = { chosenCandidates: [token], topCandidates: [{ candidates: [token] }] };
    const choice = only({ candidates: [{ ...body.candidates[0], logprobsResult }] });
    const read = { token: 'é', logprob: -0.5, bytes: [0xc3, 0xa9] };
    expect(choice?.logprobs).to.deep.equal({ content: [{ ...read, top_logprobs: [read] }] });
  });

  it('may come as the list of the events of a stream', () => {
    const reply = decoded([answer([{ text: 'Hel' }]), answer([{ text: 'lo' }])]);
    expect(reply.choices).to.have.length(1);
    expect(reply.choices[0]).to.include({ content: 'Hello' });
  });
});

describe('how an answer of Gemini ends', () => {
  const ends: [string, string][] = [
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
    ['SOMETHING_NEW', 'stop'],
    ['MALFORMED_FUNCTION_CALL', 'stop'],
  ];
  for (const [word, said] of ends) {
    it(`is ${said} for ${word} after some text`, () => {
      expect(only(answer([{ text: 'Hi' }], {}, word))?.finish_reason).to.equal(said);
    });
  }

  for (const word of ['SAFETY', 'MODEL_ARMOR', 'MAX_TOKENS', 'STOP']) {
    it(`is an empty answer for ${word} without any text`, () => {
      const body = { candidates: [{ finishReason: word, content: {} }] };
      expect(only(body)).to.include({ content: '' });
    });
  }

  for (const word of ['MALFORMED_FUNCTION_CALL', 'NO_IMAGE', 'OTHER']) {
    it(`is a failure of the upstream for ${word} without any text`, () => {
      expect(() => decoded(answer([], {}, word)))
        .to.throw(UpstreamError, word)
        .that.includes({ fault: 'broken' });
    });
  }

  it('is a failure where there is no candidate', () => {
    expect(() => decoded({ usageMetadata: {} })).to.throw(UpstreamError);
  });

  it('hands on the call of a function that nobody declared', () => {
    const parts = [{ functionCall: { name: 'run', args: {} } }];
    const choice = only(answer(parts, {}, 'UNEXPECTED_TOOL_CALL'));
    expect(choice?.tool_calls?.[0]?.function.name).to.equal('run');
  });

  it('is a refusal of the prompt where a 200 has no candidates but a reason (quirk 15)', () => {
    const promptFeedback = { blockReason: 'SAFETY', blockReasonMessage: 'Too dangerous.' };
    expect(() => decoded({ promptFeedback }))
      .to.throw(UpstreamError, 'The upstream refused the prompt (SAFETY). Too dangerous.')
      .that.includes({ fault: 'policy' });
  });

  it('is an error where a 200 carries one, in a list too (quirk 10)', () => {
    const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' };
    for (const body of [{ error }, [{ error }]]) {
      expect(() => decoded(body))
        .to.throw(UpstreamError)
        .that.includes({ fault: 'overloaded' });
    }
  });
});

describe('the usage of an answer of Gemini', () => {
  const usage = (usageMetadata: object) =>
    decoded(answer([{ text: 'Hi' }], { usageMetadata })).usage;

  it('counts thoughts beside the candidates (quirk 5), and the reading of tools', () => {
    const counts = {
      promptTokenCount: 9,
      toolUsePromptTokenCount: 40,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 185,
      totalTokenCount: 239,
    };
    expect(usage(counts)).to.deep.equal({
      prompt_tokens: 49,
      completion_tokens: 190,
      completion_tokens_details: { reasoning_tokens: 185 },
    });
  });

  it('has cached tokens, sound and images as parts', () => {
    const counts = {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 50 },
        { modality: 'AUDIO', tokenCount: 30 },
        { modality: 'IMAGE', tokenCount: 20 },
      ],
      candidatesTokenCount: 1_300,
      candidatesTokensDetails: [
        { modality: 'AUDIO', tokenCount: 6 },
        { modality: 'IMAGE', tokenCount: 1_290 },
      ],
    };
    expect(usage(counts)).to.deep.equal({
      prompt_tokens: 100,
      completion_tokens: 1_300,
      prompt_tokens_details: { cached_tokens: 40, audio_tokens: 30, image_tokens: 20 },
      completion_tokens_details: { audio_tokens: 6, image_tokens: 1_290 },
    });
  });

  it('counts sound and images from the cache as cached alone', () => {
    const details = (sound: number, images: number) => [
      { modality: 'AUDIO', tokenCount: sound },
      { modality: 'IMAGE', tokenCount: images },
    ];
    const counts = {
      promptTokenCount: 130,
      cachedContentTokenCount: 70,
      promptTokensDetails: details(90, 30),
      cacheTokensDetails: details(60, 10),
      candidatesTokenCount: 8,
    };
    expect(usage(counts)).to.deep.include({
      prompt_tokens_details: { cached_tokens: 70, audio_tokens: 30, image_tokens: 20 },
    });
  });

  it('is nothing to believe where a count is no count', () => {
    const read = usage({ promptTokenCount: '9', candidatesTokenCount: 5 });
    expect(read).to.deep.equal({ prompt_tokens: NaN, completion_tokens: 5 });
  });

  it('is absent where nothing is counted', () => {
    expect(usage({ trafficType: 'ON_DEMAND' })).to.equal(undefined);
  });
});
