import { expect } from 'chai';
import fc from 'fast-check';
import { chat as gemini } from '../../../../providers/gemini.js';
import { chat as openai } from '../../../../providers/openai.js';
import type { Model, Upstream } from '../../../../src/core/model.js';
import { UpstreamError } from '../../../../src/core/upstream-error.js';
import { chatCompletion as format } from '../../../../src/modalities/chat/formats/chat-completion.js';
import { maxTokens } from '../../../../src/modalities/chat/price.js';
import { FREE, modelAt } from '../../../billing/helpers/terms.js';
import { PNG } from '../../../helpers/text-gateway.js';
import { providerAt, upstreamAt } from '../../../helpers/upstream.js';

/** Now and then one that no allowance around a message could hide. */
const said = fc.oneof(
  { weight: 9, arbitrary: fc.string({ maxLength: 20, unit: 'grapheme' }) },
  { weight: 1, arbitrary: fc.constant('x'.repeat(3_000)) },
);
/** The longest that is taken, now and then. */
const name = fc.oneof(fc.string({ maxLength: 20 }), fc.constant('x'.repeat(256)));
const text = fc.record({ type: fc.constant('text'), text: said });
const image = fc.constant({ type: 'image_url', image_url: { url: PNG } });
const parts = fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 4 });
const id = fc.oneof(fc.constantFrom('c1', 'c2'), said);
const call = fc.record({
  id,
  type: fc.constant('function'),
  function: fc.record({ name, arguments: said }),
});
const message = fc.oneof(
  fc.record({ role: fc.constant('user'), content: fc.oneof(said, parts) }),
  fc.record({ role: fc.constant('system'), content: said }),
  fc.record({
    role: fc.constant('assistant'),
    content: said,
    tool_calls: fc.array(call, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ role: fc.constant('tool'), tool_call_id: id, content: fc.oneof(said, parts) }),
);
const body = fc.record({
  model: fc.constant('m'),
  messages: fc.array(message, { minLength: 1, maxLength: 12 }),
  tools: fc.array(
    fc.record({
      type: fc.constant('function'),
      function: fc.record({ name: said, description: said }),
    }),
    { maxLength: 2 },
  ),
  response_format: fc.record({
    type: fc.constant('json_schema'),
    json_schema: fc.record({
      name: fc.constant('a'),
      schema: said.map((title) => ({ type: 'object', title })),
    }),
  }),
});

/** Names and data that a model does not read as text. */
const FIXED = new Set(['type', 'role', 'model', 'url', 'data', 'mimeType', 'thoughtSignature']);

function textBytes(value: unknown, key = ''): number {
  if (typeof value === 'string') return FIXED.has(key) ? 0 : Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  const entries = Object.entries(value as Record<string, unknown>);
  return entries.reduce((sum, [name, one]) => sum + textBytes(one, name), 0);
}

const openaiAt = upstreamAt(providerAt('http://fake.invalid'), { model: 'gpt-4o' });
const geminiAt = upstreamAt(
  providerAt('http://fake.invalid', { hidden_tokens: { base: 0, tools: 50 } }),
  { model: 'gemini-2.5-flash' },
);

describe('the hold for a chat request', () => {
  const wires: [string, typeof openai, Upstream][] = [
    ['OpenAI', openai, openaiAt],
    ['Gemini', gemini, geminiAt],
  ];
  for (const [name, codec, upstream] of wires) {
    it(`bounds all that ${name} is told, on every request`, () => {
      const capabilities = new Set(['chat', 'tools', 'vision', 'file'] as const);
      const passthrough = new Set(['response_format']);
      const model: Model = { ...modelAt([FREE], 99), capabilities, passthrough };
      let told = 0;
      fc.assert(
        fc.property(body, (request) => {
          const work = format.read(request, model, {});
          try {
            const sent = textBytes(
              JSON.parse(JSON.stringify(codec.encode(work.call, upstream).body)),
            );
            told += 1;
            const images = work.size.images * (model.limits.image_tokens ?? 0);
            const max = maxTokens(work, model, upstream.provider).prompt_tokens - images;
            expect(sent).to.be.at.most(max);
          } catch (error) {
            // Such as a result of no call.
            if (!(error instanceof UpstreamError)) throw error;
          }
        }),
        { numRuns: 400 },
      );
      expect(told).to.be.above(50);
    });
  }
});
