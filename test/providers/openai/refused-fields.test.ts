import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { chat } from '../../../providers/openai.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

type Fields = ChatCall['fields'];

/** The body that a provider's model is sent, and the names of the fields left out. */
function sent(manifest: string, model: string, fields: Fields, messages: ChatMessage[] = []) {
  const file = new URL(`../../../providers/${manifest}.yaml`, import.meta.url);
  const { wire } = parse(readFileSync(file, 'utf8')) as { wire: Record<string, unknown> };
  const upstream = upstreamAt(providerAt('http://fake.invalid', { wire }), { model });
  const call: ChatCall = { messages, stream: false, n: 1, max_tokens: undefined, fields };
  const { body, ignored = [] } = chat.encode(call, upstream);
  const { model: _, stream: _stream, messages: given, ...rest } = body;
  return { fields: rest, messages: given, ignored };
}

const PENALTIES = { presence_penalty: 1, frequency_penalty: 1 };
const NAMES = Object.keys(PENALTIES);

describe('a field that a model answers with 400', () => {
  for (const model of ['grok-3-mini', 'grok-4-0709', 'grok-4.3', 'grok-4.6', 'grok-code-fast-1']) {
    it(`is left out: penalties for ${model}`, () => {
      const { fields, ignored } = sent('xai', model, { ...PENALTIES, temperature: 0.2 });
      expect([fields, ignored]).to.deep.equal([{ temperature: 0.2 }, NAMES]);
    });

    it(`is refused by its name: stop for ${model}`, () => {
      expect(() => sent('xai', model, { stop: ['END'] }))
        .to.throw(UpstreamError, 'stop: this model takes no stop sequences.')
        .and.to.include({ fault: 'unsupported' });
    });
  }

  it('is left out in silence where it asks for nothing', () => {
    const zeros = { presence_penalty: 0, frequency_penalty: 0 };
    expect(sent('xai', 'grok-4.5', zeros)).to.deep.include({ fields: {}, ignored: [] });
    const { fields, ignored } = sent('perplexity', 'sonar', zeros);
    expect([fields, ignored]).to.deep.equal([{ presence_penalty: 0 }, []]);
  });

  it('is left out alone: stop is sent to a model that does not reason', () => {
    const { fields, ignored } = sent('xai', 'grok-4.20-0309-non-reasoning', {
      ...PENALTIES,
      stop: 'END',
    });
    expect([fields, ignored]).to.deep.equal([{ stop: 'END' }, NAMES]);
  });

  it('is sent to a model that takes it', () => {
    const all = { ...PENALTIES, stop: 'END' };
    expect(sent('xai', 'grok-3', all)).to.deep.include({ fields: all, ignored: [] });
  });
});

describe('a wish that DeepSeek answers with 400', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  const hello: ChatMessage[] = [{ role: 'user', content: 'Hello!' }];
  const REQUIRED = { tools: [{ type: 'function', function: { name: 'add' } }] };

  it('is an instruction: a JSON schema', () => {
    const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } };
    const body = sent('deepseek', 'deepseek-v4-pro', { response_format }, hello);
    expect(body.fields).to.deep.equal({ response_format: { type: 'json_object' } });
    expect(body.ignored).to.deep.equal([]);
    const [system, ...rest] = body.messages as ChatMessage[];
    expect(system?.role).to.equal('system');
    expect(system?.content).to.contain(JSON.stringify(schema));
    expect(rest).to.deep.equal(hello);
  });

  for (const tool_choice of ['required', { type: 'function', function: { name: 'add' } }]) {
    const what = JSON.stringify(tool_choice);
    it(`turns thinking off: tool_choice ${what}`, () => {
      const { fields, ignored } = sent('deepseek', 'deepseek-flash', { ...REQUIRED, tool_choice });
      const thinking = { type: 'disabled' };
      expect([fields, ignored]).to.deep.equal([{ ...REQUIRED, tool_choice, thinking }, []]);
    });

    it(`is left out where the client wants thinking: tool_choice ${what}`, () => {
      const wanted = { ...REQUIRED, reasoning_effort: 'high' };
      const { fields, ignored } = sent('deepseek', 'deepseek-flash', { ...wanted, tool_choice });
      expect([fields, ignored]).to.deep.equal([wanted, ['tool_choice']]);
    });

    it(`is sent where the client wants no thinking: tool_choice ${what}`, () => {
      const wish = { ...REQUIRED, tool_choice, reasoning_effort: 'none' };
      const { fields, ignored } = sent('deepseek', 'deepseek-flash', wish);
      const thinking = { type: 'disabled' };
      expect([fields, ignored]).to.deep.equal([{ ...REQUIRED, tool_choice, thinking }, []]);
    });
  }

  it('is sent as it is: tool_choice auto', () => {
    const wish = { ...REQUIRED, tool_choice: 'auto' };
    const { fields, ignored } = sent('deepseek', 'deepseek-v4-pro', wish);
    expect([fields, ignored]).to.deep.equal([wish, []]);
  });
});

describe('a name of a message that a provider answers with 400', () => {
  const named: ChatMessage[] = [
    { role: 'system', content: 'Be brief.', name: 'house' },
    { role: 'user', content: 'Hello!', name: 'ann' },
    { role: 'tool', content: '7', tool_call_id: 'abcdefghi', name: 'add' },
  ];
  const KEPT: [manifest: string, names: (string | undefined)[]][] = [
    ['groq', [undefined, undefined, undefined]],
    ['mistral', [undefined, undefined, 'add']],
    ['xai', [undefined, 'ann', undefined]],
  ];

  for (const [manifest, names] of KEPT) {
    it(`is left out for ${manifest}`, () => {
      const { messages, ignored } = sent(manifest, 'some-model', {}, named);
      expect((messages as ChatMessage[]).map(({ name }) => name)).to.deep.equal(names);
      expect(ignored).to.deep.equal(['messages[].name']);
    });
  }

  it('is sent to a provider that takes it', () => {
    const { messages, ignored } = sent('openai', 'gpt-4o', {}, named);
    expect([messages, ignored]).to.deep.equal([named, []]);
  });
});
