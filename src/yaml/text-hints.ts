import type { ErrorObject } from 'ajv/dist/2020.js';
import { nearestWord } from './did-you-mean.js';
import { foreignValueHint } from './foreign.js';
import { meantDuration, meantNumber, meantSize } from './meant-values.js';
import { wants, type SubSchema } from './schema-walk.js';
import { quote } from './source.js';

/** A value that is neither list nor block, with the schema of its place. */
export interface Scalar {
  error: ErrorObject;
  part: SubSchema;
  schema: unknown;
  /** The characters in the file, without quotes. */
  written: string | undefined;
}

/** The hint for a text where one of a few words is wanted. */
export function wordHint(text: string, { enum: listed, pattern }: SubSchema): string | undefined {
  const [, choices] = /^\^\(?([a-z|-]+)\)?\$$/.exec(String(pattern)) ?? [];
  const words = [listed ?? choices?.split('|') ?? []].flat().map(String);
  const parts = text.split(/[\s,;|]+/).filter(Boolean);
  if (parts.length > 1 && parts.every((part) => words.includes(part))) {
    return `these are ${parts.length} entries: write ${parts.join(', ')}`;
  }
  if (words.includes('list') && /^list\s*[*+x\d]/i.test(text)) {
    return 'write a margin such as { list: +10% }, or the prices that you charge';
  }
  const foreign = Array.isArray(listed) ? foreignValueHint(text) : undefined;
  if (foreign !== undefined) return foreign;
  const near = nearestWord(text, words);
  if (near !== undefined) return `did you mean ${quote(near)}?`;
  if (words.includes('free') && /^(?:0(?:\.0+)?|none|no|false)$/i.test(text)) return 'write free';
  const [only, second] = words;
  const isOn = /^(?:true|yes|on|enabled?|1)$/i.test(text);
  if (isOn && only === 'off' && second === undefined) return 'remove the line: it is on without it';
  const isOff = /^(?:false|no|none|disabled?|0)$/i.test(text);
  return isOff && only !== undefined && second === undefined ? `write ${only}` : undefined;
}

/** The hint for a boolean as YAML 1.1 and other languages write it. */
export function booleanHint(text: string, data: unknown): string | undefined {
  if (typeof data === 'string' && /^(?:true|false)$/.test(text)) return 'remove the quotes';
  if (/^(?:yes|y|on|1|true|enabled?)$/i.test(text)) return 'write true';
  return /^(?:no|n|off|0|false|disabled?|none)$/i.test(text) ? 'write false' : undefined;
}

/** The hint for a wrong number: the one that was most likely meant, else the bound. */
export function numberHint(text: string, { error, part, written }: Scalar): string | undefined {
  const isText = typeof error.data === 'string';
  const whole = !wants(part, 'number');
  if (!whole && OTHER_MONEY.test(text)) return OTHER_MONEY_HINT;
  const { minimum = -Infinity, maximum = Infinity } = part as Record<string, number | undefined>;
  if (/^(?:free|list)$/i.test(text)) return `price: ${text} stands alone, without a block`;
  if (maximum === 1 && Number(text) > 1 && Number(text) <= 100)
    return `write ${Number(text) / 100}`;
  const digits = (isText ? text : (written ?? text)).replace(/,$/, '');
  const unsigned = whole ? digits : digits.replace(/^-/, '');
  const isShare = maximum === 1 || !unsigned.endsWith('%') || whole;
  const meant = isShare ? meantNumber(unsigned, whole) : undefined;
  const fits = Number(meant) >= minimum && Number(meant) <= maximum;
  const isWhole = !whole || Number.isInteger(Number(meant));
  if (meant !== undefined && fits && isWhole) {
    return isText && meant === text ? 'remove the quotes' : `write ${meant}`;
  }
  const share = Number(text);
  if (whole && minimum === 1 && share > 0 && share < 1) return `write ${Math.round(share * 100)}`;
  if (error.keyword === 'minimum') return `write ${minimum} or more`;
  return error.keyword === 'maximum' ? `write ${maximum} or less` : undefined;
}

const OTHER_MONEY_HINT = 'convert it to dollars, and write the number alone, such as 0.15';
const OTHER_MONEY = /[€£¥₹]|(?:eur|euros?|gbp|cny|rmb|jpy|inr|chf)\b/i;

/** The value that was meant by `30 sec`, `1h30m`, `20MB`, a bare number and the like. */
export function tidied(text: string, part: SubSchema): string | undefined {
  const { pattern, default: standard, examples } = part;
  if (typeof pattern !== 'string') return undefined;
  const form = new RegExp(pattern);
  const usual = standard ?? (Array.isArray(examples) ? (examples as unknown[])[0] : undefined);
  const unit = /[a-z]+$/.exec(typeof usual === 'string' ? usual : '')?.[0];
  const texts = [`@${text}`, text.replace(/^\*/, ''), hostLabel(text), pathIn(text, form)];
  let meant = texts.find((one) => one !== text && one !== '' && form.test(one));
  if (meant !== undefined) return meant;
  if (form.test('1s') && !form.test('x')) {
    const isSeconds = isLongUnit(unit) && Number(text) >= SECONDS;
    meant = isSeconds ? `${text}s` : meantDuration(text, isLongUnit(unit) ? unit : 's');
  } else if (form.test('1kb') && !form.test('x')) meant = meantSize(text, unit ?? 'mb');
  return meant !== undefined && form.test(meant) ? meant : undefined;
}

/** As many hours or days are most likely seconds. */
const SECONDS = 600;

function isLongUnit(unit: string | undefined): unit is 'd' | 'h' {
  return unit === 'd' || unit === 'h';
}

/** The path of a URL, or of a path without its first slash, where a path is wanted. */
function pathIn(text: string, form: RegExp): string {
  if (form.test('x') || !form.test('/x')) return '';
  return text.replace(/^https?:\/\/[^/]+/i, '').replace(/^(?=[^/])/, '/');
}

/** The first label of the host of a URL: the name of a resource there. */
function hostLabel(text: string): string {
  return /^https?:\/\/([\w-]+)\./i.exec(text)?.[1] ?? '';
}
