import { expect } from 'chai';
import fc from 'fast-check';
import { chat as claude } from '../../../../providers/anthropic.js';
import type { Model } from '../../../../src/core/model.js';
import { GatewayError } from '../../../../src/core/errors.js';
import { UpstreamError } from '../../../../src/core/upstream-error.js';
import { messages as format } from '../../../../src/modalities/chat/formats/messages.js';
import { maxTokens } from '../../../../src/modalities/chat/price.js';
import { FREE, modelAt } from '../../../billing/helpers/terms.js';
import { claudeAt } from '../../../helpers/claude.js';
import type { MessagesBody } from '../../../../src/schema-types/messages.js';

const BETAS = { 'anthropic-beta': 'advanced-tool-use-2025-11-20' };
/** Now and then one that no allowance around a message could hide. */
const said = fc.oneof(
  { weight: 9, arbitrary: fc.string({ maxLength: 20, unit: 'grapheme' }) },
  { weight: 1, arbitrary: fc.constant('x'.repeat(3_000)) },
);
/** The name of a tool that is called, now and then the longest that is taken. */
const called = fc.oneof(fc.string({ maxLength: 20 }), fc.constant('x'.repeat(256)));
/** Content of no known shape: in part a text, in part data. */
const loose = fc.oneof(
  fc.record({ text: fc.oneof(fc.constant(''), said), data: fc.constant('x'.repeat(9_000)) }),
  fc.record({ type: fc.constant('image'), source: said.map((data) => ({ type: 'base64', data })) }),
  fc.dictionary(said, said, { maxKeys: 2 }),
);
const inner = fc.oneof(
  fc.record({ type: fc.constant('text'), text: said }),
  fc.record({ type: fc.constant('tool_reference'), tool_name: said }),
  fc.record({
    type: fc.constant('search_result'),
    source: said,
    title: said,
    content: said.map((text) => [{ type: 'text', text }]),
  }),
  fc.record({
    type: fc.constant('document'),
    source: fc.oneof(
      said.map((data) => ({ type: 'text', data })),
      said.map((content) => ({ type: 'content', content })),
      said.map((text) => ({ type: 'content', content: [{ type: 'text', text }] })),
    ),
    title: said,
    context: said,
  }),
  fc.record({ type: fc.constant('news'), text: said }),
  fc.record({ type: fc.constant('news'), content: loose }),
  fc.record({ type: fc.constant('thinking'), thinking: said, signature: said }),
  fc.record({ type: fc.constant('redacted_thinking'), data: said }),
  fc.record({
    type: fc.constant('tool_use'),
    id: said,
    name: called,
    input: fc.dictionary(said, said, { maxKeys: 2 }),
  }),
);
const block = fc.oneof(
  inner,
  fc.record({
    type: fc.constant('tool_result'),
    tool_use_id: said,
    content: fc.oneof(said, loose, fc.array(inner, { maxLength: 3 })),
    is_error: fc.boolean(),
  }),
);
const content = fc.oneof(said, fc.array(block, { maxLength: 4 }));
const role = fc.constantFrom('user', 'assistant', 'system');
const tool = fc.record({
  name: fc.oneof(said, fc.constant('DeferredToolPlaceholder')),
  description: said,
  input_schema: said.map((title) => ({ type: 'object', title })),
  defer_loading: fc.boolean(),
  strict: fc.boolean(),
  input_examples: fc.array(fc.dictionary(said, said, { maxKeys: 2 }), { maxLength: 2 }),
});
const body = fc.record({
  model: fc.constant('m'),
  system: content,
  messages: fc.array(fc.record({ role, content }), { minLength: 1, maxLength: 5 }),
  tools: fc.array(tool, { maxLength: 2 }),
  thinking: fc.constant({ type: 'adaptive' }),
});

/** The text that a model reads of a body: not the names and types around it. */
function textBytes(value: unknown, key = ''): number {
  if (typeof value === 'string') {
    const isFixed = ['type', 'role', 'model', 'media_type', 'id', 'tool_use_id'].includes(key);
    return isFixed || value === 'Begin.' ? 0 : Buffer.byteLength(value);
  }
  if (typeof value !== 'object' || value === null) return 0;
  const entries = Object.entries(value as Record<string, unknown>);
  return entries.reduce((sum, [name, one]) => sum + textBytes(one, name), 0);
}

describe('the hold for a Messages request', () => {
  const capabilities = new Set(['chat', 'tools', 'vision', 'file'] as const);
  const model: Model = { ...modelAt([FREE], 99), capabilities };
  const upstream = claudeAt('claude-opus-5');

  /** The bytes that Claude is told of a request, and those that its hold is for. */
  function toldAndHeld(request: MessagesBody): { told: number; held: number } {
    const work = format.read(request, model, BETAS);
    expect(work.call).to.have.property('original');
    const { messages, system, tools = [] } = claude.encode(work.call, upstream).body;
    // The one that stands for others is small; one that was called has its name told again.
    const given = (request.tools ?? []).map(({ name }) => name);
    const listed = (tools as { name: string }[]).filter(
      ({ name }) => name !== 'DeferredToolPlaceholder' && given.includes(name),
    );
    const sent = JSON.stringify({ messages, system, tools: listed });
    const { prompt_tokens } = maxTokens(work, model, upstream.provider);
    return { told: textBytes(JSON.parse(sent)), held: prompt_tokens };
  }

  it('bounds all that Claude is told as it was said, on every request', () => {
    let checked = 0;
    fc.assert(
      fc.property(body, (request) => {
        try {
          const { told, held } = toldAndHeld(request);
          checked += 1;
          expect(told).to.be.at.most(held);
        } catch (error) {
          // Such as an instruction that is no text, or turns that say nothing.
          if (!(error instanceof UpstreamError || error instanceof GatewayError)) throw error;
        }
      }),
      { numRuns: 400 },
    );
    expect(checked).to.be.above(50);
  });

  const thought = { type: 'redacted_thinking', data: 'x'.repeat(5_000) };
  for (const [where, turns] of Object.entries({
    'beside an empty text': [[{ type: 'text', text: '' }, thought]],
    'before a turn without a word': [[thought], ''],
  })) {
    it(`is not passed by thoughts ${where}, which are not sent`, () => {
      const spoken = turns.map((content) => ({ role: 'assistant' as const, content }));
      const messages = [...spoken, { role: 'user' as const, content: 'Go on.' }];
      const { told, held } = toldAndHeld({ model: 'm', messages });
      expect(told).to.be.at.most(held);
      expect(told).to.be.below(1_000);
    });
  }
});
