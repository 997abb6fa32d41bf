/** Reads numbers, times and sizes in the forms of other programs. */

const AMOUNT = /^(?:US)?[$€£]? ?(\.?[\dO][\dO.,_']{0,30}) ?([a-z$€£%/][\w $€£/]{0,30})?$/i;
/** A longer text is no number. */
const MAX_CHARACTERS = 60;
/** A unit that leaves the number before it as it is. */
const NEUTRAL_SUFFIX =
  /^(?:\$|usd|dollars?|tokens?|tok|seconds?|s|images?|\/ ?(?:1m|m|mtok|million))?$/;

/** The number that a text most likely means: `0,15`, `$0.15`, `16,384` or `128k`. */
export function meantNumber(text: string, whole: boolean): string | undefined {
  const tidy = text
    .slice(0, MAX_CHARACTERS + 1)
    .trim()
    .replaceAll(/\s+/g, ' ');
  const [, digits, suffix = ''] = AMOUNT.exec(tidy) ?? [];
  if (digits === undefined || text.length > MAX_CHARACTERS) return undefined;
  const plain = normalized(digits.replaceAll(/O/gi, '0'), whole);
  if (plain === undefined) return undefined;
  const unit = suffix.trim().toLowerCase();
  if (NEUTRAL_SUFFIX.test(unit)) return plain;
  if (unit === '%') return whole ? plain : String(Number(plain) / 100);
  const factor = whole ? (FACTORS[unit] ?? NaN) : NaN;
  const number = Number(plain) * factor;
  return Number.isInteger(number) ? String(number) : undefined;
}

const FACTORS: Record<string, number> = { k: 1e3, kb: 1e3, 'k tokens': 1e3, m: 1e6, mio: 1e6 };

/** Removes the marks between thousands, and writes a decimal comma as a point. */
function normalized(digits: string, whole: boolean): string | undefined {
  const grouped = /^[1-9]\d{0,2}(?:[,_' ]\d{3})+(?:\.\d+)?$/.test(digits);
  if (grouped) return digits.replaceAll(/[,_' ]/g, '');
  if (whole && /^[1-9]\d{0,2}(?:\.\d{3})+$/.test(digits)) return digits.replaceAll('.', '');
  const bare = digits.replaceAll('_', '').replace(',', '.');
  return /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(bare) ? bare.replace(/^\./, '0.') : undefined;
}

const TIMES: readonly [unit: string, ms: number, words: RegExp][] = [
  ['ms', 1, /^(?:ms|msecs?|millis|milliseconds?)$/],
  ['s', 1_000, /^(?:s|secs?|seconds?)$/],
  ['m', 60_000, /^(?:m|mins?|minutes?)$/],
  ['h', 3_600_000, /^(?:h|hrs?|hours?)$/],
  ['d', 86_400_000, /^(?:d|days?)$/],
  ['d', 7 * 86_400_000, /^(?:w|wks?|weeks?)$/],
  ['d', 30 * 86_400_000, /^(?:mo|mons?|months?)$/],
  ['d', 365 * 86_400_000, /^(?:y|yrs?|years?)$/],
];

/** A duration as the file wants it: `90m` for `1h30m`. A bare number counts in `bare_unit`. */
export function meantDuration(text: string, bare_unit: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const low = text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  if (/^\d+(\.\d+)?$/.test(low)) {
    // A number of 1000 or more is most likely one of milliseconds, as other programs count.
    const isMillis = bare_unit === 's' && Number(low) >= 1_000;
    const isWhole = isMillis && Number(low) % 1_000 === 0;
    return isWhole ? `${Number(low) / 1_000}s` : low + (isMillis ? 'ms' : bare_unit);
  }
  const [, count, iso] = /^p(?:t(?=.*[hms]$))?(\d+)([hmsd])$/.exec(low) ?? [];
  if (iso !== undefined && low !== `p${count}m`) return `${count}${iso}`;
  const parts = [...low.matchAll(/(\d{1,12}(?:\.\d{1,6})?) ?([a-z]{1,12})(?: and |, ?| )?/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== low) return undefined;
  const read = parts.map(([, number, word = '']) => {
    const [unit = '', ms = NaN] = TIMES.find(([, , words]) => words.test(word)) ?? [];
    return { unit, ms: Number(number) * ms };
  });
  const sum = read.reduce((total, { ms }) => total + ms, 0);
  const unit = read.at(-1)?.unit ?? '';
  const size = TIMES.find(([name]) => name === unit)?.[1] ?? NaN;
  return Number.isFinite(sum / size) ? `${sum / size}${unit}` : undefined;
}

const SIZES = ['b', 'kb', 'mb', 'gb'];

/** Bytes in the largest unit that needs no fraction. */
function inLargest(bytes: number): string | undefined {
  if (!Number.isInteger(bytes)) return undefined;
  const at = SIZES.findLastIndex((_, i) => bytes % 1024 ** i === 0);
  return `${bytes / 1024 ** at}${SIZES[at]}`;
}

/** A size as the file wants it: `20mb` for `20 MiB`, `1536mb` for `1.5gb`. */
export function meantSize(text: string, bare_unit: string): string | undefined {
  const low = text.trim().toLowerCase();
  const [, number, word = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(low) ?? [];
  if (number === undefined) return undefined;
  const bare = Number(number) >= 10_000 ? 'b' : bare_unit;
  const unit = word === '' ? bare : `${word.replace(/^bytes?$/, 'b').slice(0, 1)}b`;
  const at = SIZES.indexOf(unit === 'bb' ? 'b' : unit);
  if (at < 0) return undefined;
  if (at === 0) return inLargest(Number(number));
  if (Number.isInteger(Number(number))) return `${number}${SIZES[at]}`;
  const smaller = Number(number) * 1024;
  return Number.isInteger(smaller) && at > 0 ? `${smaller}${SIZES[at - 1]}` : undefined;
}
