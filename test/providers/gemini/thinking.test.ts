import { expect } from 'chai';
import { encoded, GEMINI_2_5, GEMINI_3 } from '../../helpers/gemini.js';

const thinking = (fields: Record<string, unknown>, model: string) =>
  encoded({ fields }, { model }).body.generationConfig.thinkingConfig;
const effort = (reasoning_effort: string, model: string) => thinking({ reasoning_effort }, model);

const GEMINI_3_PRO = 'gemini-3.1-pro-preview';
const PRO = 'gemini-2.5-pro';
const LITE = 'gemini-2.5-flash-lite';

describe("what a client asks of Gemini's thinking", () => {
  it('is nothing unless the client asks', () => {
    expect(thinking({}, GEMINI_3)).to.equal(undefined);
    expect(thinking({ reasoning_effort: null }, GEMINI_3)).to.equal(undefined);
  });

  const levels = [
    ['none', { thinkingLevel: 'MINIMAL' }],
    ['minimal', { thinkingLevel: 'MINIMAL', includeThoughts: true }],
    ['low', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['medium', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
    ['high', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['xhigh', { thinkingLevel: 'HIGH', includeThoughts: true }],
  ] as const;
  for (const [word, config] of levels) {
    it(`is a level for Gemini 3, from the effort ${word}`, () => {
      expect(effort(word, GEMINI_3)).to.deep.equal(config);
    });
  }

  it('is at least the level LOW for the larger model of Gemini 3', () => {
    const config = { thinkingLevel: 'LOW', includeThoughts: true };
    expect(effort('minimal', GEMINI_3_PRO)).to.deep.equal(config);
    expect(effort('none', GEMINI_3_PRO)).to.deep.equal({ thinkingLevel: 'LOW' });
  });

  it('is a budget for Gemini 2.5, within what each model takes', () => {
    const budget = (word: string, model: string) =>
      (effort(word, model) as { thinkingBudget: number }).thinkingBudget;
    const words = ['none', 'minimal', 'low', 'medium', 'high'];
    const budgets = (model: string) => words.map((word) => budget(word, model));
    expect(budgets(GEMINI_2_5)).to.deep.equal([0, 512, 1_024, 8_192, 24_576]);
    expect(budgets(LITE)).to.deep.equal([0, 512, 1_024, 8_192, 24_576]);
    expect(budgets(PRO)).to.deep.equal([128, 512, 1_024, 8_192, 24_576]);
  });

  it('may be a number of tokens', () => {
    const asked = { thinking: { type: 'enabled', budget_tokens: 100_000 } };
    const config = { thinkingBudget: 24_576, includeThoughts: true };
    expect(thinking(asked, GEMINI_2_5)).to.deep.equal(config);
    expect(thinking({ reasoning: { max_tokens: 300 } }, LITE)).to.deep.equal({
      thinkingBudget: 512,
      includeThoughts: true,
    });
    expect(thinking({ thinking: { type: 'disabled' } }, GEMINI_2_5)).to.deep.equal({
      thinkingBudget: 0,
    });
  });

  it('may be told not to be shown', () => {
    const asked = { reasoning: { effort: 'high', exclude: true } };
    expect(thinking(asked, GEMINI_3)).to.deep.equal({ thinkingLevel: 'HIGH' });
    expect(thinking({ reasoning: { exclude: true } }, GEMINI_3)).to.equal(undefined);
  });

  it('may be asked in one way alone: the others are named as left out', () => {
    const fields = { thinking: { type: 'adaptive' }, reasoning_effort: 'high' };
    const { body, ignored } = encoded({ fields });
    expect(body.generationConfig.thinkingConfig).to.deep.equal({ includeThoughts: true });
    expect(ignored).to.deep.equal(['reasoning_effort']);
  });

  for (const model of ['gemini-2.0-flash', 'gemini-1.5-pro', 'gemma-3-27b-it']) {
    it(`is named as left out for ${model}, which does not think`, () => {
      const { body, ignored } = encoded({ fields: { reasoning_effort: 'low' } }, { model });
      expect(body.generationConfig).to.not.have.property('thinkingConfig');
      expect(ignored).to.deep.equal(['reasoning_effort']);
    });
  }

  it('is named as left out where no one knows the word', () => {
    expect(encoded({ fields: { reasoning_effort: 'huge' } }).ignored).to.deep.equal([
      'reasoning_effort',
    ]);
  });

  it('goes to the latest models by level, whatever their name hides', () => {
    const config = { thinkingLevel: 'LOW', includeThoughts: true };
    expect(effort('low', 'gemini-flash-latest')).to.deep.equal(config);
    expect(effort('low', 'gemini-4-flash')).to.deep.equal(config);
  });
});
