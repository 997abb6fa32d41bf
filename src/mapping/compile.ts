import { nearestWord, nameHint } from '../yaml/did-you-mean.js';
import { pointer as join, quote, segments, type Source } from '../yaml/source.js';
import { isRecord } from '../lib/objects.js';
import { compileText } from './address.js';
import { OPERATORS, type Parts } from './operators.js';
import { compilePath } from './path.js';
import { constantInput, plainPath } from './plain-text.js';
import type { TemplateScope } from './template-scopes.js';
import type { Template } from './scope.js';

/** The place and the source of a template. */
export interface CompileContext {
  source: Source;
  place: TemplateScope;
  /** True for a template that is an address, with `{model}` and `{$state.id}` in its text. */
  address?: boolean;
  /** True inside `do`, where `$` is an item of a list. */
  within?: boolean;
  depth?: number;
}

const MAX_DEPTH = 32;
const ABSENT: Template = () => undefined;
const WORDS = new Map(
  [...OPERATORS].flatMap(([name, { may }]) => may.map((word) => [word, name] as const)),
);

/** The words of operators behind which a value is read: a text there is the same in every call. */
const INPUTS = new Set(['each', 'when', 'from', 'join', 'nearest_ratio', 'starts', 'not']);

/**
 * Compiles the template at `pointer` into closures. The language is closed: paths, lists, blocks
 * and the operators of `OPERATORS`, whose loops run over their input only. Faults go to the report
 * of the source, and a faulty template gives an absent value.
 */
export function compile(value: unknown, pointer: string, context: CompileContext): Template {
  const { source, depth = 0 } = context;
  if (depth > MAX_DEPTH) {
    return fault(source, pointer, `a template is at most ${MAX_DEPTH} levels deep`);
  }
  const deeper = { ...context, depth: depth + 1 };
  if (typeof value === 'string') return compileString(value, pointer, context);
  if (Array.isArray(value)) return compileList(value, pointer, deeper);
  if (!isRecord(value)) return () => value;
  const keys = Object.keys(value);
  const operator = keys.find((key) => OPERATORS.has(key));
  if (operator !== undefined) return compileOperator(operator, value, pointer, deeper);
  const word = keys.find((key) => WORDS.has(key));
  return word === undefined
    ? compileBlock(value, pointer, deeper)
    : refuseLoneWord(word, keys, pointer, source);
}

function compileString(text: string, pointer: string, context: CompileContext): Template {
  const { source, place, address = false, within = false } = context;
  const path = (one: string) => compilePath(one, place, within);
  if (!text.startsWith('$') && !address) warnOfPath(text, pointer, context);
  const compiled = text.startsWith('$') || !address ? undefined : compileText(text, path);
  const result = compiled ?? (text.startsWith('$') ? path(text) : () => text);
  if (typeof result === 'function') return result;
  // A message must not show a value of the environment, not even in part.
  if (source.hides(pointer)) return fault(source, pointer, `${source.word(pointer)} is not a path`);
  return fault(source, pointer, result.message, result.hint);
}

/** Warns of a text that is most likely meant as a path. */
function warnOfPath(text: string, pointer: string, context: CompileContext): void {
  const { source, place, within = false } = context;
  if (source.hides(pointer)) return;
  const wrong = plainPath(text, segments(pointer).at(-1) ?? '', place, within);
  if (wrong) source.fault(pointer, { code: 'plain_template', ...wrong, severity: 'warning' });
}

function compileList(
  items: readonly unknown[],
  pointer: string,
  context: CompileContext,
): Template {
  const templates = items.map((item, i) => compile(item, pointer + join(i), context));
  return (scope) => {
    scope.budget.take(templates.length);
    return templates.map((template) => template(scope)).filter((value) => value !== undefined);
  };
}

function compileBlock(
  block: Record<string, unknown>,
  pointer: string,
  context: CompileContext,
): Template {
  const templates = Object.entries(block).map(
    ([key, value]) => [key, compile(value, pointer + join(key), context)] as const,
  );
  return (scope) => {
    scope.budget.take(templates.length);
    const made: Record<string, unknown> = {};
    for (const [key, template] of templates) {
      const value = template(scope);
      if (value !== undefined) made[key] = value;
    }
    return made;
  };
}

function compileOperator(
  name: string,
  block: Record<string, unknown>,
  pointer: string,
  context: CompileContext,
): Template {
  const { source } = context;
  const operator = OPERATORS.get(name);
  if (!operator) return ABSENT;
  const words = [name, ...operator.needs, ...operator.may];
  for (const key of Object.keys(block)) {
    if (words.includes(key)) continue;
    const near = nearestWord(key, words);
    const hint = near === undefined ? escapeHint(name) : `did you mean ${quote(near)}?`;
    const message = `unknown key ${quote(key)} beside ${quote(name)}`;
    source.fault(pointer + join(key), { code: 'bad_template', message, hint, at: 'key' });
  }
  const missing = operator.needs.find((need) => !Object.hasOwn(block, need));
  if (missing !== undefined) {
    return fault(source, pointer, `${quote(name)} lacks ${quote(missing)}`, escapeHint(name));
  }
  return operator.compile(partsOfBlock(block, pointer, context));
}

function partsOfBlock(
  block: Record<string, unknown>,
  pointer: string,
  context: CompileContext,
): Parts {
  const at = (key: string) => pointer + join(key);
  const item = { ...context, within: true };
  return {
    has: (key) => Object.hasOwn(block, key),
    raw: (key) => block[key],
    template: (key) => {
      const wrong = INPUTS.has(key) ? constantInput(block[key]) : undefined;
      if (wrong) return fault(context.source, at(key), `${key}: ${wrong.message}`, wrong.hint);
      return compile(block[key], at(key), context);
    },
    itemTemplate: (key) => compile(block[key], at(key), item),
    list: (key) => {
      const value = block[key];
      if (Array.isArray(value) && value.length > 0) {
        return value.map((one, i) => compile(one, at(key) + join(i), context));
      }
      fault(context.source, at(key), `${quote(key)} is not a list of templates`);
      return [];
    },
    block: (key) => {
      const value = block[key];
      if (isRecord(value)) return compileBlock(value, at(key), context);
      return fault(context.source, at(key), `${quote(key)} is not a block of keys`);
    },
    fault: (key, message, hint) => fault(context.source, at(key), message, hint),
  };
}

/** Refuses a word such as `then` without its operator, which may be misspelt. */
function refuseLoneWord(word: string, keys: string[], pointer: string, source: Source): Template {
  const owners = [...OPERATORS].filter(([, { may }]) => may.includes(word)).map(([name]) => name);
  const wrong = keys.find((key) => key !== word && nearestWord(key, owners) !== undefined);
  const hint =
    wrong === undefined
      ? escapeHint(word)
      : nameHint(wrong, owners).replace('?', ` for "${wrong}"?`);
  const message = `${quote(word)} stands without ${owners.map(quote).join(' or ')}`;
  const code = 'bad_template';
  source.fault(pointer + join(wrong ?? word), { code, message, hint, at: 'key' });
  return ABSENT;
}

function escapeHint(name: string): string {
  return `for a field called ${quote(name)} write { object: { ${name}: ... } }`;
}

function fault(source: Source, pointer: string, message: string, hint = ''): Template {
  source.fault(pointer, { code: 'bad_template', message, hint });
  return ABSENT;
}
