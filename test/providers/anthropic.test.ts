import { expect } from 'chai';
import { claudeCodec } from '../../providers/anthropic/codec.js';
import { chat } from '../../providers/anthropic.js';
import type { ChatChoice, ChatReply } from '../../src/modalities/chat/codec.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { bodyOf, callOf, claudeAt, ignoredOf, thrownBy } from '../helpers/claude.js';

describe('encoding for the anthropic codec', () => {
  it('sends what the Messages API wants of the simplest call', () => {
    expect(chat.encode(callOf({ stream: true }), claudeAt())).to.deep.equal({
      path: '',
      body: {
        model: 'claude-sonnet-4-5',
        stream: true,
        max_tokens: 900,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello!' }] }],
      },
      ignored: [],
    });
  });

  it('quirk 7: always sends max_tokens, at most what the model gives', () => {
    expect(bodyOf({ max_tokens: undefined }).max_tokens).to.equal(4_096);
    expect(bodyOf({ max_tokens: 1_000_000 }).max_tokens).to.equal(64_000);
    expect(bodyOf({ max_tokens: 1_000_000 }, claudeAt('claude-opus-4-1')).max_tokens).to.equal(
      32_000,
    );
  });

  it('quirk 7: asks for a long answer as a stream, even for a client that wants it whole', () => {
    const encoded = (max_tokens: number): object => {
      const { body, is_stream } = chat.encode(callOf({ max_tokens }), claudeAt());
      return { stream: body.stream, is_stream };
    };
    expect(encoded(21_333)).to.deep.equal({ stream: false, is_stream: undefined });
    expect(encoded(21_334)).to.deep.equal({ stream: true, is_stream: true });
  });

  it('tells the user as metadata, unless the name is longer than the API takes', () => {
    expect(bodyOf({ fields: { user: 'ada' } }).metadata).to.deep.equal({ user_id: 'ada' });
    const fields = { user: 'x'.repeat(300) };
    expect(bodyOf({ fields })).to.not.have.property('metadata');
    expect(ignoredOf({ fields })).to.deep.equal(['user']);
  });

  it('names the fields that this wire does not know, unless they say nothing', () => {
    const fields = { seed: 7, logit_bias: { 5: 1 }, presence_penalty: 0.5, verbosity: 'low' };
    const empty = { frequency_penalty: 0, logprobs: false, top_k: null, metadata: undefined };
    expect(bodyOf({ fields: { ...fields, ...empty } })).to.have.all.keys(
      'model',
      'stream',
      'max_tokens',
      'messages',
    );
    expect(ignoredOf({ fields: { ...fields, ...empty } })).to.deep.equal(Object.keys(fields));
  });

  it('drops, renames and sets as the operator says, but nothing that the hold rests on', () => {
    const set = {
      model: 'x',
      max_tokens: 9e9,
      messages: [],
      service_tier: 'standard_only',
      output_config: { effort: 'low' },
    };
    const format = {
      type: 'json_schema',
      json_schema: { schema: { type: 'object', properties: {}, additionalProperties: false } },
    };
    const to = claudeAt(undefined, { set, drop: ['temperature'], rename: { top_k: 'k' } });
    const fields = { temperature: 0.1, top_k: 4, response_format: format };
    expect(bodyOf({ fields }, to)).to.deep.include({
      model: 'claude-sonnet-4-5',
      max_tokens: 900,
      service_tier: 'standard_only',
      k: 4,
    });
    expect(bodyOf({ fields }, to)).to.not.have.property('temperature');
    expect(bodyOf({ fields }, to).output_config).to.have.all.keys('effort', 'format');
    expect(ignoredOf({ fields }, to)).to.deep.equal([]);
  });

  it('sends no tools where the operator drops the choice by which they were to be left', () => {
    const tools = [{ type: 'function', function: { name: 'look' } }];
    const to = claudeAt(undefined, { drop: ['tool_choice'] });
    expect(bodyOf({ fields: { tools, tool_choice: 'none' } }, to)).to.not.have.property('tools');
  });

  it('puts model and stream into the path, and a version into the body, on other clouds', () => {
    const elsewhere = claudeCodec({
      pathOf: ({ stream }, { model }) => `/models/${model}:${stream ? 'stream' : 'raw'}`,
      envelope: { anthropic_version: 'cloud-1' },
    });
    const { path, body } = elsewhere.encode(callOf({ stream: true }), claudeAt());
    expect(path).to.equal('/models/claude-sonnet-4-5:stream');
    expect(body).to.have.all.keys('anthropic_version', 'max_tokens', 'messages');
  });
});

const message = (content: object[], more: object = {}): object => ({
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: 'end_turn',
  usage: { input_tokens: 20, output_tokens: 9 },
  ...more,
});
const decode = (body: unknown): ChatReply => chat.decode(body, callOf(), claudeAt());
const choiceOf = (body: unknown): ChatChoice | undefined => decode(body).choices[0];

describe('decoding with the anthropic codec', () => {
  it('reads text, thoughts, calls and usage', () => {
    const { choices, usage } = decode(
      message(
        [
          { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
          { type: 'redacted_thinking', data: 'xyz' },
          { type: 'thinking', thinking: 'So.', signature: 'gis' },
          { type: 'text', text: 'Let me ' },
          { type: 'text', text: 'add.' },
          { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } },
          { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} },
        ],
        { stop_reason: 'tool_use' },
      ),
    );
    const format = 'anthropic-claude-v1';
    expect(choices).to.deep.equal([
      {
        index: 0,
        content: 'Let me add.',
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
          { id: 'toolu_2', type: 'function', function: { name: 'now', arguments: '{}' } },
        ],
        reasoning_content: 'Hm.\n\nSo.',
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm.', signature: 'sig', format, index: 0 },
          { type: 'reasoning.encrypted', data: 'xyz', format, index: 1 },
          { type: 'reasoning.text', text: 'So.', signature: 'gis', format, index: 2 },
        ],
        finish_reason: 'tool_use',
      },
    ]);
    expect(usage).to.deep.include({ prompt_tokens: 20, completion_tokens: 9 });
  });

  it('has no text where there are calls alone, and an empty one where there is nothing', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} };
    expect(choiceOf(message([call]))).to.have.property('content', null);
    expect(choiceOf(message([]))).to.have.property('content', '');
  });

  it("takes blocks of the upstream's own tools for neither text nor calls", () => {
    const blocks = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ text: 'no' }] },
      { type: 'text', text: 'Found.', citations: [{ cited_text: 'no' }] },
      { type: 'of_a_later_version', text: 'no' },
    ];
    expect(choiceOf(message(blocks))).to.deep.equal({
      index: 0,
      content: 'Found.',
      hosted_parts: blocks.slice(0, 2).map((part) => ({ api: 'messages', part, at: 0, after: 0 })),
      finish_reason: 'end_turn',
    });
  });

  it('quirk 15: takes a refusal with empty content for an answer, with its explanation', () => {
    const refusal = (stop_details: unknown): unknown =>
      choiceOf(message([], { stop_reason: 'refusal', stop_details }));
    expect(refusal({ type: 'refusal', category: 'cyber', explanation: 'No.' })).to.deep.include({
      content: 'No.',
      finish_reason: 'refusal',
    });
    expect(refusal(null)).to.deep.include({ content: '', finish_reason: 'refusal' });
  });

  it('tells a full context window as length', () => {
    const stop_reason = 'model_context_window_exceeded';
    expect(choiceOf(message([], { stop_reason }))).to.have.property('finish_reason', 'length');
  });

  const errors: [string, string][] = [
    ['overloaded_error', 'overloaded'],
    ['rate_limit_error', 'rate_limited'],
    ['invalid_request_error', 'rejected'],
    ['api_error', 'broken'],
  ];
  for (const [type, fault] of errors) {
    it(`quirk 10: takes ${type} inside a 200 for the failure that it is`, () => {
      const body = { type: 'error', error: { type, message: 'Sorry.' } };
      expect(thrownBy(() => decode(body))).to.be.instanceOf(UpstreamError);
      expect(thrownBy(() => decode(body))).to.have.property('fault', fault);
    });
  }

  for (const body of [[], 'text', { type: 'message' }, { content: 'text' }]) {
    it(`takes ${JSON.stringify(body)} for a broken answer`, () => {
      expect(thrownBy(() => decode(body))).to.have.property('fault', 'broken');
    });
  }
});
