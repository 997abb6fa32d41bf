import { expect } from 'chai';
import { ModelNames } from '../../src/config/model-names.js';

const KNOWN = new ModelNames([
  'gpt-5.1',
  'gpt-5.1-codex',
  'gpt-4o',
  'gpt-4o-mini',
  'o3-pro',
  'claude-haiku-4-5',
]);

describe('ModelNames', () => {
  for (const [id, right] of [
    ['gpt-4o-mnii', 'gpt-4o-mini'],
    ['GPT-4O', 'gpt-4o'],
    ['claude-haiku-4.5', 'claude-haiku-4-5'],
    ['claude-4.5-haiku', 'claude-haiku-4-5'],
    ['gpt_5.1_codx', 'gpt-5.1-codex'],
  ] as const) {
    it(`finds ${right} for ${id}`, () => {
      expect(KNOWN.meant(id)).to.equal(right);
    });
  }

  it('takes no model of another number or of another kind for a misspelt one', () => {
    for (const id of [
      'gpt-4o',
      'gpt-5.2',
      'gpt-5',
      'o3-pre',
      'gpt-4o-tiny',
      'claude-opus-4-5',
      'claude-5-4-haiku',
    ]) {
      expect(KNOWN.meant(id), id).to.equal(undefined);
    }
  });
});
