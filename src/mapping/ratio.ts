import { isRecord } from '../lib/objects.js';

/**
 * The ratio, such as `16:9`, that is nearest to `{ width, height }`; undefined if `words` is not a
 * list of ratios.
 */
export function nearestRatio(words: unknown): ((size: unknown) => string | undefined) | undefined {
  if (!Array.isArray(words) || words.length === 0) return undefined;
  const ratios = words.map(ratioOf);
  if (!ratios.every((ratio) => ratio !== undefined)) return undefined;
  return (size) => {
    const { width, height } = isRecord(size) ? size : {};
    if (typeof width !== 'number' || typeof height !== 'number') return undefined;
    // Logarithms make twice as wide as far away as half as wide.
    const farness = ({ shape }: { shape: number }) => Math.abs(shape - Math.log(width / height));
    return ratios.reduce((best, one) => (farness(one) < farness(best) ? one : best)).word;
  };
}

function ratioOf(word: unknown): { word: string; shape: number } | undefined {
  if (typeof word !== 'string') return undefined;
  const [, width, height] = /^(\d{1,4}):(\d{1,4})$/u.exec(word) ?? [];
  if (!Number(width) || !Number(height)) return undefined;
  return { word, shape: Math.log(Number(width) / Number(height)) };
}
