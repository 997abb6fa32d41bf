import { isRecord } from '../lib/objects.js';
import { compileJmespath } from './jmespath.js';
import { nearestRatio } from './ratio.js';
import type { Scope, Template } from './scope.js';

/** Compiles the parts of one operator's block. */
export interface Parts {
  has(key: string): boolean;
  raw(key: string): unknown;
  template(key: string): Template;
  /** A template in which `$` is an item of a list. */
  itemTemplate(key: string): Template;
  list(key: string): Template[];
  /** A block of templates whose keys are fields, never operators. */
  block(key: string): Template;
  fault(key: string, message: string, hint?: string): Template;
}

interface Operator {
  needs: readonly string[];
  may: readonly string[];
  compile(parts: Parts): Template;
}

/**
 * The operators of the language, by name. `may` lists the words that can stand beside the name, and
 * `needs` the words that must.
 */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map(
  Object.entries({
    const: operator((parts) => constant(parts.raw('const'))),
    object: operator((parts) => parts.block('object')),
    default: operator((parts) => firstOf(parts.list('default'))),
    each: { needs: ['do'], may: ['do', 'where'], compile: each },
    when: { needs: ['then'], may: ['then', 'else'], compile: when },
    map: { needs: ['from'], may: ['from', 'else'], compile: map },
    concat: operator((parts) => concat(parts.list('concat'))),
    join: { needs: ['with'], may: ['with'], compile: join },
    merge: operator((parts) => merge(parts.list('merge'))),
    equals: operator(equals),
    starts: { needs: ['with'], may: ['with'], compile: starts },
    not: operator((parts) => not(parts.template('not'))),
    all: operator((parts) => allHold(parts.list('all'))),
    any: operator((parts) => anyHolds(parts.list('any'))),
    nearest_ratio: { needs: ['of'], may: ['of'], compile: ratio },
    jmespath: operator((parts) => jmespath(parts)),
  }),
);

function operator(compile: (parts: Parts) => Template): Operator {
  return { needs: [], may: [], compile };
}

/** A condition holds unless its value is absent, null, false or empty text. */
function holds(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function constant(value: unknown): Template {
  return () => value;
}

function firstOf(templates: readonly Template[]): Template {
  return (scope) => {
    for (const template of templates) {
      const value = template(scope);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  };
}

/** A value that is not a list counts as a list of one, an absent value as an empty list. */
function each(parts: Parts): Template {
  const list = parts.template('each');
  const make = parts.itemTemplate('do');
  const where = parts.has('where') ? parts.itemTemplate('where') : constant(true);
  return (scope) => {
    const value = list(scope) ?? [];
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    scope.budget.take(items.length);
    return items
      .map((at, index) => ({ ...scope, at, index }))
      .filter((inner) => holds(where(inner)))
      .map((inner) => make(inner))
      .filter((made) => made !== undefined);
  };
}

function when(parts: Parts): Template {
  const condition = parts.template('when');
  const then = parts.template('then');
  const otherwise = parts.has('else') ? parts.template('else') : constant(undefined);
  return (scope) => (holds(condition(scope)) ? then(scope) : otherwise(scope));
}

function map(parts: Parts): Template {
  const words = parts.raw('map');
  if (!isRecord(words)) return parts.fault('map', '"map" is not a block of words');
  const from = parts.template('from');
  const otherwise = parts.has('else') ? parts.template('else') : constant(undefined);
  const table = new Map(Object.entries(words));
  return (scope) => {
    const word = textOfValue(from(scope));
    return word !== undefined && table.has(word) ? table.get(word) : otherwise(scope);
  };
}

/** Joins texts. The result is absent if one of its parts is. */
function concat(templates: readonly Template[]): Template {
  return (scope) => {
    const texts = templates.map((template) => textOfValue(template(scope)));
    return texts.includes(undefined) ? undefined : joinedTexts(texts, '', scope);
  };
}

function join(parts: Parts): Template {
  const separator = parts.raw('with');
  if (typeof separator !== 'string') return parts.fault('with', '"with" is not text');
  const list = parts.template('join');
  return (scope) => {
    const value = list(scope);
    if (!Array.isArray(value)) return textOfValue(value);
    const texts = value.map(textOfValue).filter((text) => text !== undefined);
    return texts.length === 0 ? undefined : joinedTexts(texts, separator, scope);
  };
}

function joinedTexts(
  texts: readonly (string | undefined)[],
  separator: string,
  scope: Scope,
): string {
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0) + separator.length, 0);
  scope.budget.take(texts.length, length);
  return texts.join(separator);
}

/** Merges blocks: later ones win. A value that is not a block counts as an empty one. */
function merge(templates: readonly Template[]): Template {
  return (scope) => {
    const entries = templates.flatMap((template) => {
      const value = template(scope);
      const own = isRecord(value) ? Object.entries(value) : [];
      scope.budget.take(own.length);
      return own.filter(([key]) => key !== '__proto__');
    });
    return Object.fromEntries(entries);
  };
}

function equals(parts: Parts): Template {
  const [left, right, ...others] = parts.list('equals');
  if (!left || !right || others.length > 0) {
    return parts.fault('equals', '"equals" takes two values');
  }
  return (scope) => left(scope) === right(scope);
}

function starts(parts: Parts): Template {
  const words = [parts.raw('with')].flat();
  if (!words.every((word) => typeof word === 'string')) {
    return parts.fault('with', '"with" is neither text nor a list of texts');
  }
  const value = parts.template('starts');
  return (scope) => {
    const text = value(scope);
    return typeof text === 'string' && words.some((word) => text.startsWith(word));
  };
}

function not(template: Template): Template {
  return (scope) => !holds(template(scope));
}

function allHold(templates: readonly Template[]): Template {
  return (scope) => templates.every((template) => holds(template(scope)));
}

function anyHolds(templates: readonly Template[]): Template {
  return (scope) => templates.some((template) => holds(template(scope)));
}

function ratio(parts: Parts): Template {
  const size = parts.template('nearest_ratio');
  const choose = nearestRatio(parts.raw('of'));
  if (!choose) return parts.fault('of', '"of" is not a list of ratios such as "16:9"');
  return (scope) => choose(size(scope));
}

function jmespath(parts: Parts): Template {
  const compiled = compileJmespath(parts.raw('jmespath'));
  return typeof compiled === 'function'
    ? compiled
    : parts.fault('jmespath', compiled.message, compiled.hint);
}

/** The text of a text, number or boolean; undefined for other values, which have no single form. */
function textOfValue(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
