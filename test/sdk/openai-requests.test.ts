import { expect } from 'chai';
import type OpenAI from 'openai';
import { embedding } from '../../providers/openai-embedding.js';
import { image } from '../../providers/openai-image.js';
import { chat } from '../../providers/openai.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const at = (model: string, wire: Record<string, unknown> = {}) =>
  upstreamAt(providerAt('http://fake.invalid', { wire }), { model });

const TOOL = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
};
const CALL = {
  id: 'call_1',
  type: 'function' as const,
  function: { name: 'weather', arguments: '{}' },
};
const IMAGE = {
  type: 'image_url' as const,
  image_url: { url: 'https://a.example/b.png', detail: 'low' as const },
};
const SOUND = {
  type: 'input_audio' as const,
  input_audio: { data: 'QQ==', format: 'wav' as const },
};
const FILE = {
  type: 'file' as const,
  file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QQ==' },
};

/** The compiler holds what is expected against the SDK's own types, and the test holds it here. */
describe("the openai package's request types", () => {
  it('accept a chat with every part and tool that a client can send', () => {
    const call: ChatCall = {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Look:' }, IMAGE, SOUND, FILE] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ ...CALL, id: 'call_1~ts~QUJD' }],
          reasoning_content: 'Hm.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }],
        },
        { role: 'tool', content: 'rain', tool_call_id: 'call_1~ts~QUJD' },
        { role: 'user', content: 'And now?', cache_control: { type: 'ephemeral' } },
      ],
      stream: false,
      n: 2,
      max_tokens: 9,
      fields: {
        temperature: 0.5,
        stop: ['END'],
        tools: [{ ...TOOL, cache_control: { type: 'ephemeral' } }],
        tool_choice: 'auto',
        parallel_tool_calls: false,
        response_format: { type: 'json_object' },
        reasoning_effort: 'low',
        seed: 7,
      },
    };
    const expected: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model: 'gpt-5-mini',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Look:' }, IMAGE, SOUND, FILE] },
        { role: 'assistant', content: null, tool_calls: [CALL] },
        { role: 'tool', content: 'rain', tool_call_id: 'call_1' },
        { role: 'user', content: 'And now?' },
      ],
      stream: false,
      n: 2,
      max_completion_tokens: 9,
      temperature: 0.5,
      stop: ['END'],
      tools: [TOOL],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      response_format: { type: 'json_object' },
      reasoning_effort: 'low',
      seed: 7,
    };
    const wire = { files: true, max_completion_tokens: ['gpt-5'] };
    const { body, ignored } = chat.encode(call, at('gpt-5-mini', wire));
    expect(body).to.deep.equal(expected);
    expect(ignored).to.deep.equal(['messages[].cache_control', 'tools[].cache_control']);
  });

  it('accept a stream that asks for its usage', () => {
    const call: ChatCall = {
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      n: 1,
      max_tokens: 9,
      fields: { logprobs: true, top_logprobs: 2, logit_bias: { 50256: -100 } },
    };
    const expected: OpenAI.ChatCompletionCreateParamsStreaming = {
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      max_tokens: 9,
      stream_options: { include_usage: true },
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { 50256: -100 },
    };
    expect(chat.encode(call, at('gpt-4o')).body).to.deep.equal(expected);
  });

  it('accept embeddings and images', () => {
    const texts: OpenAI.EmbeddingCreateParams = {
      model: 'text-embedding-3-small',
      input: ['a', 'b'],
      dimensions: 8,
      encoding_format: 'base64',
    };
    const asked = { inputs: ['a', 'b'], dimensions: 8, encoding_format: 'float' as const };
    const to = at('text-embedding-3-small', { embedding_base64: true });
    expect(embedding.encode({ ...asked, fields: {} }, to).body).to.deep.equal(texts);

    const wish: OpenAI.ImageGenerateParamsNonStreaming = {
      model: 'gpt-image-1',
      prompt: 'a cat',
      n: 1,
      size: '1024x1024',
    };
    const call = {
      prompt: 'a cat',
      n: 1,
      size: { width: 1024, height: 1024 },
      quality: undefined,
      style: undefined,
      response_format: 'url' as const,
      fields: {},
    };
    expect(image.encode(call, at('gpt-image-1')).body).to.deep.include(wish);
  });
});
