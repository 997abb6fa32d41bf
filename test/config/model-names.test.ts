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
    ['claude-haiku-4.5-20251001', 'claude-haiku-4-5-20251001'],
    ['claude-hiaku-4-5@20251001', 'claude-haiku-4-5@20251001'],
    ['gpt-5.1-codx-2025-11-13', 'gpt-5.1-codex-2025-11-13'],
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
      'gpt-4o-2024-08-06',
      'gpt-5.2-2025-12-11',
      'gpt-4o-mink-2024-07-18',
      'claude-opus-4-5-20251101',
    ]) {
      expect(KNOWN.meant(id), id).to.equal(undefined);
    }
  });
});
