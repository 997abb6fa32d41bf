import { OTHER_UNITS } from '../../core/usage.js';
import { pluralize, formatCount } from './formatting.js';

/** Units by name, as records and ledger entries have them. */
type Units = Readonly<Record<string, unknown>>;

const WORDS: Record<(typeof OTHER_UNITS)[number], (count: number) => string> = {
  video_seconds: (count) => `${formatCount(count)} s of video`,
  audio_seconds: (count) => `${formatCount(count)} s of audio`,
  images: (count) => pluralize(count, 'image'),
  characters: (count) => pluralize(count, 'character'),
};

/** `1,204 → 310 tokens`, `2 images`, `8 s of video`: usage as text. */
export function usageText(units: Units): string {
  for (const name of OTHER_UNITS) {
    const count = units[name];
    if (typeof count === 'number' && count > 0) return WORDS[name](count);
  }
  const { prompt_tokens, completion_tokens } = units;
  if (typeof prompt_tokens !== 'number' || typeof completion_tokens !== 'number') return '';
  // Videos and speech are not counted in tokens.
  if (prompt_tokens + completion_tokens === 0) return '';
  return `${formatCount(prompt_tokens)} → ${formatCount(completion_tokens)} tokens`;
}
