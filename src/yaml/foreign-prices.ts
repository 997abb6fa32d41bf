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
