import { expect } from 'chai';
import { extraFields } from '../../../providers/openai/completions.js';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

function said(
  fields: ChatCall['fields'],
  wire: Record<string, unknown> = {},
  drop: string[] = [],
): ReturnType<typeof extraFields> {
  const call: ChatCall = { messages: [], stream: false, n: 1, max_tokens: 9, fields };
  return extraFields(call, upstreamAt(providerAt('http://fake.invalid', { wire }), { drop }));
}

describe('the other fields of a request on the openai wire', () => {
  it('are passed on without a copy where nothing is to be changed', () => {
    const fields = { temperature: 0.5, reasoning_effort: 'low' };
    expect(said(fields).fields).to.equal(fields);
  });

  it('are named where the upstream does not take them, if the client sent them', () => {
    const { fields, ignored } = said({ seed: 7, logprobs: true }, {}, ['logprobs', 'logit_bias']);
    expect(fields).to.deep.equal({ seed: 7 });
    expect(ignored).to.deep.equal(['logprobs']);
  });

  it('say that no tool is wanted by sending none, so that nothing is lost', () => {
    const { fields, ignored } = said({ tools: [{}], tool_choice: 'none' }, {}, ['tool_choice']);
    expect([fields, ignored]).to.deep.equal([{}, []]);
  });

  it('name a tool_choice that the upstream cannot be held to', () => {
    const fields = { tools: [{}], tool_choice: 'required' };
    expect(said(fields, {}, ['tool_choice']).ignored).to.deep.equal(['tool_choice']);
  });

  it('take marks for the cache off tools, and name them, unless the upstream knows them', () => {
    const tool = { type: 'function', function: { name: 'add' } };
    const fields = { tools: [{ ...tool, cache_control: { type: 'ephemeral' } }] };
    expect(said(fields)).to.deep.equal({
      fields: { tools: [tool] },
      ignored: ['tools[].cache_control'],
    });
    expect(said(fields, { cache_control: true })).to.deep.equal({ fields, ignored: [] });
  });

  const efforts: [string, string, object, string[]][] = [
    ['reasoning', 'low', { reasoning: { effort: 'low' } }, []],
    ['reasoning', 'none', { reasoning: { effort: 'none' } }, []],
    ['thinking', 'none', { thinking: { type: 'disabled' } }, []],
    ['thinking', 'low', { thinking: { type: 'enabled' } }, ['reasoning_effort']],
    ['enable_thinking', 'none', { enable_thinking: false }, []],
    ['enable_thinking', 'high', { enable_thinking: true }, ['reasoning_effort']],
    ['none_as_thinking', 'none', { thinking: { type: 'disabled' } }, []],
    ['none_as_thinking', 'high', { reasoning_effort: 'high' }, []],
  ];
  for (const [effort, reasoning_effort, fields, ignored] of efforts) {
    it(`say reasoning_effort ${reasoning_effort} by the flag effort: ${effort}`, () => {
      expect(said({ reasoning_effort }, { effort })).to.deep.equal({ fields, ignored });
    });
  }

  it("let the client's own words for reasoning stand beside the effort", () => {
    const asked = { reasoning_effort: 'low', reasoning: { max_tokens: 9 } };
    const { fields } = said(asked, { effort: 'reasoning' });
    expect(fields).to.deep.equal({ reasoning: { effort: 'low', max_tokens: 9 } });
    const own = { reasoning_effort: 'high', thinking: { type: 'disabled' } };
    expect(said(own, { effort: 'thinking' }).fields).to.deep.equal({
      thinking: { type: 'disabled' },
    });
  });
});
