import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { extraFields } from '../../../providers/openai/completions.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

/** The effort that a model of a provider is sent for another, and the names of those left out. */
function sent(manifest: string, model: string, reasoning_effort: string): unknown[] {
  const file = new URL(`../../../providers/${manifest}.yaml`, import.meta.url);
  const { wire } = parse(readFileSync(file, 'utf8')) as { wire: Record<string, unknown> };
  const upstream = upstreamAt(providerAt('http://fake.invalid', { wire }), { model });
  const call = { messages: [], stream: false, n: 1, max_tokens: 9, fields: { reasoning_effort } };
  const { fields, ignored } = extraFields(call, upstream);
  return [fields.reasoning_effort, ignored];
}

const NAMED = ['reasoning_effort'];
const ROWS: [manifest: string, model: string, effort: string, said: unknown, ignored: string[]][] =
  [
    ['groq', 'llama-3.3-70b-versatile', 'low', undefined, NAMED],
    ['groq', 'llama-3.3-70b-versatile', 'none', undefined, []],
    ['groq', 'openai/gpt-oss-120b', 'low', 'low', []],
    ['groq', 'openai/gpt-oss-120b', 'xhigh', 'high', []],
    ['groq', 'openai/gpt-oss-120b', 'minimal', 'low', []],
    ['groq', 'openai/gpt-oss-120b', 'none', 'low', NAMED],
    ['groq', 'qwen/qwen3-32b', 'none', 'none', []],
    ['groq', 'qwen/qwen3-32b', 'high', undefined, NAMED],
    ['cerebras', 'llama-4-scout', 'high', undefined, NAMED],
    ['cerebras', 'zai-glm-4.7', 'none', 'none', []],
    ['xai', 'grok-4-fast-reasoning', 'low', undefined, NAMED],
    ['xai', 'grok-4.20-0309-reasoning', 'low', undefined, NAMED],
    ['xai', 'grok-4.20-multi-agent', 'low', 'low', []],
    ['xai', 'grok-3-mini', 'medium', 'low', []],
    ['xai', 'grok-4.3', 'medium', 'medium', []],
    ['xai', 'grok-4.3', 'xhigh', 'high', []],
    ['xai', 'grok-4.5', 'none', 'low', NAMED],
    ['mistral', 'mistral-small-latest', 'low', 'high', []],
    ['mistral', 'mistral-small-latest', 'none', 'none', []],
    ['mistral', 'mistral-large-latest', 'high', undefined, NAMED],
    ['xai', 'grok-build-0.1', 'low', undefined, NAMED],
  ];

describe('an effort for a model that refuses it', () => {
  it('is not sent in another form either', () => {
    const wire = { effort_values: { '': [] }, effort: 'thinking' };
    const upstream = upstreamAt(providerAt('http://fake.invalid', { wire }));
    const fields = { reasoning_effort: 'low' };
    const call = { messages: [], stream: false, n: 1, max_tokens: 9, fields };
    expect(extraFields(call, upstream)).to.deep.equal({ fields: {}, ignored: NAMED });
  });

  for (const [manifest, model, effort, said, ignored] of ROWS) {
    it(`was 400, or is taken: ${effort} for ${model} at ${manifest}`, () => {
      expect(sent(manifest, model, effort)).to.deep.equal([said, ignored]);
    });
  }
});
