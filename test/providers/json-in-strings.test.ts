import { expect } from 'chai';
import { chat as claude } from '../../providers/anthropic.js';
import { chat as bedrock } from '../../providers/bedrock.js';
import { chat as gemini } from '../../providers/gemini.js';
import { chat as openai } from '../../providers/openai.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { ChatCall, ChatCodec } from '../../src/modalities/chat/codec.js';
import type { ChatMessage } from '../../src/schema-types/chat-completion.js';
import { EventReader } from '../../src/upstream/sse.js';
import { callOf } from '../helpers/claude.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const MANY = `{"a":[${'0,'.repeat(100_001)}0]}`;
const HALF = `{"a":[${'0,'.repeat(60_000)}0]}`;
const DEEP = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;

const upstream = upstreamAt(providerAt('http://fake.invalid'), { model: 'gpt-5' });
const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };

function conversation(args: readonly string[], result = 'ok'): Partial<ChatCall> {
  const calls = args.map((text, at) => {
    return { id: `c${at}`, type: 'function', function: { name: 'look', arguments: text } } as const;
  });
  const results = args.map((_, at): ChatMessage => {
    return { role: 'tool', tool_call_id: `c${at}`, content: result };
  });
  const turn: ChatMessage = { role: 'assistant', content: null, tool_calls: calls };
  const messages: ChatMessage[] = [{ role: 'user', content: 'Look.' }, turn, ...results];
  return { messages, fields: { tools: [tool] } };
}

/** The values of a field, wherever it stands in what a codec sends. */
function found(field: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === field ? [inner] : found(field, inner),
  );
}

const WIRES: readonly { name: string; codec: ChatCodec; field: string }[] = [
  { name: 'Gemini', codec: gemini, field: 'args' },
  { name: 'Anthropic', codec: claude, field: 'input' },
  { name: 'Bedrock', codec: bedrock, field: 'input' },
];

describe('JSON within strings', () => {
  for (const { name, codec, field } of WIRES) {
    const sent = (args: readonly string[], result?: string): unknown =>
      codec.encode(callOf(conversation(args, result)), upstream).body;

    it(`took seconds and all memory with too many values, and goes to ${name} as text`, () => {
      expect(found(field, sent([MANY]))).to.deep.equal([{ arguments: MANY }]);
      const [first, second] = found(field, sent([HALF, HALF]));
      expect(first).to.have.property('a').that.has.length(60_001);
      expect(second).to.deep.equal({ arguments: HALF });
    });

    it(`overflowed the stack when nested too deep, and goes to ${name} as text`, () => {
      expect(found(field, sent([DEEP]))).to.deep.equal([{ arguments: DEEP }]);
      expect(JSON.stringify(sent(['{}'], DEEP))).to.include(JSON.stringify(DEEP).slice(1, -1));
    });
  }

  it('is not searched for the input of a custom tool past the limit', () => {
    const own = { type: 'custom', name: 'look' };
    const custom = { ...conversation([MANY]), custom_tools: new Map([['look', own]]) };
    const wire = { responses: ['gpt'], custom_tools: ['gpt'] };
    const at = { ...upstream, provider: { ...upstream.provider, wire } };
    const { body } = openai.encode(callOf(custom), at);
    expect(JSON.stringify(body)).to.include(JSON.stringify(MANY));
  });

  it('of an event of an upstream that is nested too deep breaks the stream, not the gateway', () => {
    const start = { type: 'content_block_start', index: 0, content_block: 1 };
    const data = JSON.stringify(start).replace('1}', `{"type":"tool_use","input":${DEEP}}}`);
    const reader = new EventReader({ event_bytes: 1_000_000, stream_bytes: 1_000_000 });
    for (const { codec } of WIRES.slice(0, 2)) {
      const decoder = codec.decodeStream(callOf(), upstream);
      const read = (): unknown => decoder.read(reader.read(Buffer.from(`data: ${data}\n\n`)), []);
      expect(read).to.throw(UpstreamError).with.property('fault', 'broken');
    }
  });
});
