import { expect } from 'chai';
import { repeats, anthropicUsage } from '../../../providers/anthropic/usage.js';
import { callOf, claudeAt } from '../../helpers/claude.js';

describe('usage of Claude', () => {
  it('quirk 6: counts cache reads and writes as prompt tokens, and names them', () => {
    const usage = {
      input_tokens: 20,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 4_000,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 5 },
    };
    expect(anthropicUsage(usage, false)).to.deep.equal({
      prompt_tokens: 4_320,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: 4_000, cache_write_tokens: 300 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
  });

  it('counts no cache where none is named', () => {
    const usage = { input_tokens: 2, cache_read_input_tokens: null, output_tokens: 3 };
    expect(anthropicUsage(usage, false)).to.deep.include({
      prompt_tokens: 2,
      completion_tokens: 3,
    });
  });

  it('is absent where the upstream gave none', () => {
    expect(anthropicUsage(undefined, false)).to.equal(undefined);
    expect(anthropicUsage({ service_tier: 'standard' }, false)).to.equal(undefined);
  });

  for (const nonsense of [-5, 1.5, '12', {}]) {
    it(`stays nonsense where a count is ${JSON.stringify(nonsense)}, whatever is added to it`, () => {
      const input = { input_tokens: nonsense, cache_read_input_tokens: 10, output_tokens: 3 };
      expect(anthropicUsage(input, false)?.prompt_tokens).to.deep.equal(nonsense);
      const cached = { input_tokens: 10, cache_read_input_tokens: nonsense, output_tokens: 3 };
      expect(anthropicUsage(cached, false)?.prompt_tokens).to.deep.equal(nonsense);
      expect(
        anthropicUsage({ ...input, output_tokens: nonsense }, false)?.completion_tokens,
      ).to.deep.equal(nonsense);
    });
  }

  it('is that of all passes where the call made the API repeat itself, else the last one', () => {
    const pass = (input_tokens: number, output_tokens: number): object => ({
      input_tokens,
      output_tokens,
      cache_read_input_tokens: 1,
    });
    const usage = { ...pass(680, 1_320), iterations: [pass(60_000, 590), pass(680, 1_320)] };
    expect(anthropicUsage(usage, true)).to.deep.include({
      prompt_tokens: 60_682,
      completion_tokens: 1_910,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    });
    expect(anthropicUsage(usage, false)).to.deep.include({ prompt_tokens: 681 });
    expect(anthropicUsage(pass(1, 2), true)).to.deep.include({ prompt_tokens: 2 });
  });

  it('repeats for tools of the API itself, and for what an operator sets', () => {
    const tools = (type: string): Parameters<typeof repeats>[0] =>
      callOf({ fields: { tools: [{ type }] } });
    expect(repeats(tools('function'), claudeAt())).to.equal(false);
    expect(repeats(tools('advisor_20260301'), claudeAt())).to.equal(true);
    const set = { context_management: { edits: [] } };
    expect(repeats(callOf(), claudeAt(undefined, { set }))).to.equal(true);
  });
});
