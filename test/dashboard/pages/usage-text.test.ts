import { expect } from 'chai';
import { usageText } from '../../../src/dashboard/pages/usage-text.js';

const CASES: [Record<string, unknown>, string][] = [
  [{ prompt_tokens: 1_204, completion_tokens: 310 }, '1,204 → 310 tokens'],
  [{ prompt_tokens: 18, completion_tokens: 1_056, images: 1 }, '1 image'],
  [{ prompt_tokens: 9, completion_tokens: 5, images: 0 }, '9 → 5 tokens'],
  [{ video_seconds: 8, prompt_tokens: 0, completion_tokens: 0 }, '8 s of video'],
  [{ audio_seconds: 12.345, prompt_tokens: null, completion_tokens: null }, '12.345 s of audio'],
  [{ characters: 1_200 }, '1,200 characters'],
  [{ prompt_tokens: null, completion_tokens: null }, ''],
  [{ prompt_tokens: 0, completion_tokens: 0 }, ''],
  [{}, ''],
];

describe('usage as text', () => {
  for (const [units, text] of CASES) {
    it(`is ${text === '' ? 'empty' : `"${text}"`} for ${JSON.stringify(units)}`, () => {
      expect(usageText(units)).to.equal(text);
    });
  }
});
