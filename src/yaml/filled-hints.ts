import { isRecord } from '../lib/objects.js';
import { pricesHere } from './foreign-prices.js';
import { meantDuration, meantSize } from './meant-values.js';
import { flow } from './schema-walk.js';
import { pointer as join, type Source } from './source.js';

/** A key of the file with its value, which a hint may have to show in another form. */
export interface Written {
  source: Source;
  /** The pointer of the block that has the key. */
  at: string;
  key: string;
  value: unknown;
}

/**
 * Puts the value of a key into the places of a hint: `VALUE`, `DURATION`, `SIZE`, `UPSTREAM` and
 * `PRICES`. Undefined where the value does not fit into the hint.
 */
export function filled(hint: string, written: Written): string | undefined {
  const isHidden = written.source.hidesWithin(written.at + join(written.key));
  const whole = hint.replace('INPUT', () => inputOf(written));
  const prices = isHidden ? undefined : pricesHere(whole, written.value);
  if (prices !== undefined) return prices;
  if (hint.includes('PRICES')) return undefined;
  const value = shown(written);
  return whole
    .replace('UPSTREAM', () => upstreamOf(written))
    .replace('POST VALUE', () => `${methodOf(written)} ${value.replaceAll("'", '')}`)
    .replace('LABEL', () => /^https?:\/\/([\w-]+)\./.exec(value)?.[1] ?? 'NAME')
    .replaceAll('VALUE', () => value)
    .replace('DURATION', () => durationOf(value) ?? '60s')
    .replace('SIZE', () => meantSize(value.replaceAll("'", ''), 'b') ?? '20mb');
}

/** The price of a million input tokens where it is written as a ratio: one of 1 is 2 dollars. */
function inputOf({ source, at }: Written): string {
  const ratio = Number(source.text(`${at}/model_ratio`) ?? NaN);
  return ratio > 0 && !source.hides(`${at}/model_ratio`) ? String(2 * ratio) : 'the input price';
}

/** An upstream for a model that is written as `PROVIDER/ID`. */
function upstreamOf({ source, at, key, value }: Written): string {
  const model = isRecord(value) ? value.model : undefined;
  const [, provider, id] = /^([\w-]+)\/(\S+)$/.exec(String(model)) ?? [];
  const isShown = id !== undefined && !source.hides(at + join(key, 'model'));
  return isShown ? flow({ provider, model: id }) : '{ provider: NAME, model: ID }';
}

/** The method that stands beside a path in a key of its own. */
function methodOf({ source, at }: Written): string {
  const method = source.text(`${at}/method`) ?? '';
  return /^(?:get|put|patch|delete)$/i.test(method) ? method.toUpperCase() : 'POST';
}

function durationOf(value: string): string | undefined {
  return meantDuration(value.replaceAll("'", ''), 's');
}

/** A name under which a secret may stand, and a URL with one. */
const SECRET = /key|secret|token|password|\bsk-|\/\/[^/\s]*@|\?|hooks\.slack|discord/i;

/** The path of a key file, which is no secret itself. */
const KEY_FILE = /^[\w./~-]{1,60}\.json$/;

/** The value for a line that can be pasted; `VALUE` for a secret, and for a long one. */
function shown({ source, at, key, value }: Written): string {
  const place = at + join(key);
  if (source.hides(place)) return source.word(place);
  const isScalar = typeof value === 'number' || typeof value === 'string';
  if (!isScalar && (typeof value !== 'object' || source.hidesWithin(place))) return 'VALUE';
  const text = flow(value);
  const bare = text.replaceAll(/^'|'$/g, '');
  if (KEY_FILE.test(bare)) return bare;
  return text.length <= 60 && !SECRET.test(`${key} ${text}`) ? text : 'VALUE';
}
