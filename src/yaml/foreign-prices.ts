/** Keys of other programs in a price, and what does the same here. */
export const PRICE: Readonly<Record<string, string>> = {
  prompt: 'use input_per_million instead: multiply the price of one token by 1000000',
  completion: 'use output_per_million instead: multiply the price of one token by 1000000',
  input: 'use input_per_million instead, in dollars for a million tokens',
  output: 'use output_per_million instead, in dollars for a million tokens',
  currency: 'all prices are dollars: convert them, and remove this',
  unit: 'each key has its unit in its name: remove this',
  markup: 'write the prices that you charge: nothing is added to them',
  multiplier: 'write the prices that you charge: nothing is added to them',
  list: 'price: list takes the list prices; yours are written out, key by key',
  free: 'price: free stands alone',
  per_request: 'calls are charged by tokens, images, seconds or characters alone',
  request: 'calls are charged by tokens, images, seconds or characters alone',
  image: 'use per_image instead, in dollars for an image that is made',
  per_video_minute: 'use per_video_second instead: divide by 60',
  per_second: 'use per_video_second or per_audio_minute instead',
  per_minute: 'use per_audio_minute or per_video_second instead',
  per_audio_second: 'use per_audio_minute instead: multiply by 60',
  per_audio_hour: 'use per_audio_minute instead: divide by 60',
  per_character: 'use per_million_characters instead: multiply by 1000000',
  per_thousand_characters: 'use per_million_characters instead: multiply by 1000',
  per_1k_characters: 'use per_million_characters instead: multiply by 1000',
};

/** Words in keys such as `input_cost_per_token`, with the unit that has the same meaning here. */
const KINDS: readonly [words: readonly string[], ours: string][] = [
  [['cache', 'creation'], 'cache_write_per_million'],
  [['cache', 'write'], 'cache_write_per_million'],
  [['cache'], 'cached_input_per_million'],
  [['cached'], 'cached_input_per_million'],
  [['output'], 'output_per_million'],
  [['completion'], 'output_per_million'],
  [['input'], 'input_per_million'],
  [['prompt'], 'input_per_million'],
];

const THOUSAND = ['1k', '1000', 'k', 'thousand'];
const MILLION = ['1m', 'm', 'mtok', 'mtoken', 'mtokens', 'million', 'mio'];

/** The hint for a price in the unit of another program; undefined for any other key. */
export function foreignPriceHint(key: string): string | undefined {
  if (KINDS.some(([, ours]) => ours === key)) return undefined;
  const words = key.split('_');
  const has = (...any: readonly string[]): boolean => any.some((word) => words.includes(word));
  const [, kind] = KINDS.find(([all]) => all.every((word) => words.includes(word))) ?? [];
  if (kind === undefined || !has('cost', 'price', 'per')) return undefined;
  const ours = has('audio') ? `audio_${kind}` : kind;
  if (has(...MILLION)) return `did you mean "${ours}"?`;
  if (has(...THOUSAND)) return `use ${ours} instead: multiply by 1000`;
  return has('token', 'tokens') ? `use ${ours} instead: multiply by 1000000` : undefined;
}
