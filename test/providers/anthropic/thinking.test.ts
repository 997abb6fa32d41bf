import { expect } from 'chai';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { bodyOf, claudeAt, ignoredOf } from '../../helpers/claude.js';

const effort = (level: string): { fields: Record<string, unknown> } => ({
  fields: { reasoning_effort: level },
});
const ROOM = { max_tokens: 10_000 };
const THOUGHT = {
  type: 'reasoning.text',
  text: 'I should look.',
  signature: 'sig',
  format: 'anthropic-claude-v1',
  index: 0,
};
const TOOL = { type: 'function', function: { name: 'look' } };
/** A round of tools, whose thoughts the client has kept or not. */
const round = (details?: object[]): ChatMessage[] => [
  { role: 'user', content: 'a' },
  {
    role: 'assistant',
    content: null,
    ...(details && { reasoning_details: details }),
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c', content: 'r' },
];

describe('asking Claude to think', () => {
  it('gives older models a budget that leaves room for the answer', () => {
    const budgets = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map(
      (level) => bodyOf({ ...effort(level), ...ROOM }).thinking,
    );
    expect(budgets).to.deep.equal(
      [1_024, 2_000, 5_000, 8_000, 9_000, 9_500].map((budget_tokens) => ({
        type: 'enabled',
        budget_tokens,
      })),
    );
    expect(bodyOf({ ...effort('high'), ...ROOM })).to.not.have.property('output_config');
    expect(bodyOf({ ...effort('high'), max_tokens: 64_000 }).thinking).to.include({
      budget_tokens: 32_000,
    });
  });

  it('lets newer models decide, at the effort asked for, and show a summary', () => {
    const body = bodyOf(effort('medium'), claudeAt('claude-opus-4-6'));
    expect(body.thinking).to.deep.equal({ type: 'adaptive', display: 'summarized' });
    expect(body.output_config).to.deep.equal({ effort: 'medium' });
  });

  it('says the effort xhigh only to models that know it', () => {
    const said = (level: string, model: string): unknown =>
      bodyOf(effort(level), claudeAt(model)).output_config;
    expect(said('xhigh', 'claude-sonnet-4-6')).to.deep.equal({ effort: 'max' });
    expect(said('xhigh', 'claude-opus-4-7')).to.deep.equal({ effort: 'xhigh' });
    expect(said('minimal', 'claude-opus-4-7')).to.deep.equal({ effort: 'low' });
  });

  it('turns thinking off in the way of each model, and says where it cannot', () => {
    const off = (model: string): unknown => {
      const { thinking, output_config } = bodyOf(effort('none'), claudeAt(model));
      return [thinking, output_config, ignoredOf(effort('none'), claudeAt(model))];
    };
    expect(off('claude-opus-4-8')).to.deep.equal([undefined, undefined, []]);
    expect(off('claude-sonnet-5')).to.deep.equal([{ type: 'disabled' }, undefined, []]);
    expect(off('claude-sonnet-5-5')).to.deep.equal([
      { type: 'between_tools' },
      undefined,
      ['reasoning_effort'],
    ]);
    expect(off('claude-fable-5')).to.deep.equal([
      undefined,
      { effort: 'low' },
      ['reasoning_effort'],
    ]);
  });

  it("takes thinking in the API's own words, with a budget below max_tokens", () => {
    const asked = (thinking: object, model?: string): unknown =>
      bodyOf({ fields: { thinking }, ...ROOM }, claudeAt(model)).thinking;
    const enabled = (budget_tokens: number): object => ({ type: 'enabled', budget_tokens });
    expect(asked(enabled(3_000))).to.deep.equal(enabled(3_000));
    expect(asked(enabled(50_000))).to.deep.equal(enabled(9_999));
    expect(asked(enabled(1))).to.deep.equal(enabled(1_024));
    expect(asked({ type: 'enabled' })).to.deep.equal(enabled(5_000));
    expect(asked({ type: 'adaptive' })).to.deep.equal(enabled(5_000));
    expect(asked(enabled(3_000), 'claude-sonnet-4-6')).to.deep.equal(enabled(3_000));
    const adaptive = { type: 'adaptive', display: 'summarized' };
    expect(asked({ type: 'adaptive' }, 'claude-sonnet-4-6')).to.deep.equal(adaptive);
    expect(asked(enabled(3_000), 'claude-opus-4-7')).to.deep.equal(adaptive);
    const fields = { thinking: enabled(3_000) };
    expect(ignoredOf({ fields }, claudeAt('claude-opus-4-7'))).to.deep.equal([
      'thinking.budget_tokens',
    ]);
  });

  it('asks no effort above high where thinking is turned off', () => {
    const fields = { thinking: { type: 'disabled' }, reasoning_effort: 'max' };
    expect(bodyOf({ fields }, claudeAt('claude-opus-5'))).to.deep.include({
      thinking: { type: 'disabled' },
      output_config: { effort: 'high' },
    });
  });

  it("passes an effort of the API's own on alone: it asks for no thinking", () => {
    const original = { system: [], messages: [], tools: [], effort: 'low', betas: [] };
    const { thinking, output_config } = bodyOf(
      { ...effort('low'), original },
      claudeAt('claude-opus-5'),
    );
    expect([thinking, output_config]).to.deep.equal([undefined, { effort: 'low' }]);
    expect(ignoredOf({ ...effort('low'), original })).to.deep.equal(['reasoning_effort']);
  });

  it('names what cannot be done: no room for a budget, a model that does not think', () => {
    for (const to of [claudeAt(), claudeAt('claude-3-5-haiku-latest')]) {
      expect(bodyOf(effort('high'), to)).to.not.have.property('thinking');
      expect(ignoredOf(effort('high'), to)).to.deep.equal(['reasoning_effort']);
    }
    expect(ignoredOf(effort('enormous'))).to.deep.equal(['reasoning_effort']);
    expect(ignoredOf({ fields: { thinking: true } })).to.deep.equal(['thinking']);
  });

  it('sends no sampling parameters to a model that thinks', () => {
    const fields = { reasoning_effort: 'low', temperature: 0.3, top_p: 0.9 };
    expect(bodyOf({ fields, ...ROOM })).to.not.have.any.keys('temperature', 'top_p');
    expect(ignoredOf({ fields, ...ROOM })).to.deep.equal(['temperature', 'top_p']);
  });

  it('leaves thinking out before a forced call, where the API answers 400 to both', () => {
    const fields = { reasoning_effort: 'low', tools: [TOOL], tool_choice: 'required' };
    expect(bodyOf({ fields, ...ROOM })).to.not.have.property('thinking');
    expect(ignoredOf({ fields, ...ROOM })).to.deep.equal(['reasoning_effort']);
  });

  it('leaves thinking out where the words of the assistant are to be continued', () => {
    const messages: ChatMessage[] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'Once' },
    ];
    expect(bodyOf({ messages, ...effort('low'), ...ROOM })).to.not.have.property('thinking');
  });
});

describe('thoughts of Claude that come back', () => {
  const asking = { fields: { reasoning_effort: 'low', tools: [TOOL] }, ...ROOM };

  it('stand before the calls, as they were signed', () => {
    const body = bodyOf({ messages: round([THOUGHT]), ...asking });
    expect(body.thinking).to.include({ type: 'enabled' });
    expect(body.messages[1]?.content).to.deep.equal([
      { type: 'thinking', thinking: 'I should look.', signature: 'sig' },
      { type: 'tool_use', id: 'c', name: 'look', input: {} },
    ]);
  });

  it('bring back what only Claude can read', () => {
    const hidden = { type: 'reasoning.encrypted', data: 'xyz', format: THOUGHT.format, index: 0 };
    const { messages } = bodyOf({ messages: round([hidden]), ...asking });
    expect(messages[1]?.content[0]).to.deep.equal({ type: 'redacted_thinking', data: 'xyz' });
  });

  it('are joined where a stream gave them in parts', () => {
    const { type, format } = THOUGHT;
    const parts = [
      { type, format, index: 0, text: 'I should' },
      { type, format, index: 0, text: ' look.' },
      { type, format, index: 0, signature: 'sig' },
      { type, format, index: 1, text: 'Twice.', signature: 'gis' },
    ];
    const { messages } = bodyOf({ messages: round(parts), ...asking });
    expect(messages[1]?.content.slice(0, 2)).to.deep.equal([
      { type: 'thinking', thinking: 'I should look.', signature: 'sig' },
      { type: 'thinking', thinking: 'Twice.', signature: 'gis' },
    ]);
  });

  it('are left out, and thinking with them, where the client has lost them on a tool turn', () => {
    const unsigned = { ...THOUGHT, signature: undefined };
    const foreign = { ...THOUGHT, format: 'google-gemini-v1' };
    for (const details of [undefined, [], [unsigned], [foreign]]) {
      const call = { messages: round(details), ...asking };
      expect(bodyOf(call)).to.not.have.property('thinking');
      expect(bodyOf(call).messages[1]?.content).to.have.length(1);
      expect(ignoredOf(call)).to.deep.equal(['reasoning_effort']);
    }
  });

  it('are demanded at the beginning of a round of tools, and not of its further steps', () => {
    const [, said, brought] = round();
    const steps = [...round([THOUGHT]), said, brought] as ChatMessage[];
    expect(bodyOf({ messages: steps, ...asking })).to.have.property('thinking');
    const lost = [...round(), said, brought] as ChatMessage[];
    expect(bodyOf({ messages: lost, ...asking })).to.not.have.property('thinking');
  });

  it('are not demanded by models that decide for themselves, nor once the round is over', () => {
    const adaptive = claudeAt('claude-sonnet-4-6');
    expect(bodyOf({ messages: round(), ...asking }, adaptive)).to.have.property('thinking');
    const messages: ChatMessage[] = [...round(), { role: 'assistant', content: 'x' }];
    messages.push({ role: 'user', content: 'y' });
    expect(bodyOf({ messages, ...asking })).to.have.property('thinking');
  });

  it('are left out where a model is not asked to think, but not for one that thinks unasked', () => {
    const kinds = (model?: string, fields = {}): unknown[] =>
      bodyOf({ messages: round([THOUGHT]), fields }, claudeAt(model)).messages[1]?.content.map(
        ({ type }) => type,
      ) ?? [];
    expect(kinds()).to.deep.equal(['tool_use']);
    expect(kinds('claude-sonnet-5')).to.deep.equal(['thinking', 'tool_use']);
    const off = { thinking: { type: 'disabled' } };
    expect(kinds('claude-sonnet-5', off)).to.deep.equal(['tool_use']);
  });

  it('leave no empty message behind', () => {
    const messages: ChatMessage[] = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: '', reasoning_details: [THOUGHT] },
      { role: 'user', content: 'b' },
    ];
    expect(bodyOf({ messages }).messages.map(({ role }) => role)).to.deep.equal(['user']);
  });
});
