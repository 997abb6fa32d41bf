import { nameHint } from '../yaml/did-you-mean.js';
import { quote } from '../yaml/source.js';
import type { ScopeFields, TemplateScope } from './template-scopes.js';
import type { Scope, Template } from './scope.js';

type Step = string | number | typeof INDEX;

const INDEX = Symbol('index');
const PATH = /^\$([a-z_]*)((?:\.[A-Za-z_][\w-]*|\[(?:-?\d{1,6}|'[^']*'|\$index)\])*)$/u;
const STEP = /\.([A-Za-z_][\w-]*)|\[(-?\d+)\]|\['([^']*)'\]|\[\$index\]/gu;

export interface PathFault {
  message: string;
  hint: string;
}

/**
 * Compiles a path such as `$.images[0].url`. `$` is the current value and `$name` a named one.
 * Steps are keys, `.url` or `['any key']`, and indexes, `[0]`, `[-1]` from the end or `[$index]`.
 * Only own keys are found. `within` says that `$` is an item of a list, whose parts are unknown.
 */
export function compilePath(
  text: string,
  place: TemplateScope,
  within: boolean,
): Template | PathFault {
  const [, name = '', rest = ''] = PATH.exec(text) ?? [];
  if (!PATH.test(text)) return { message: `${quote(text)} is not a path`, hint: formHint(text) };
  const steps = stepsOf(rest);
  if (steps.includes('__proto__')) return { message: `"__proto__" cannot be a key`, hint: '' };
  const usesIndex = name === 'index' || steps.includes(INDEX);
  if (usesIndex && !within) return { message: '"$index" is known only inside "do"', hint: '' };
  if (name === 'index') return ({ index }) => index;
  if (name !== '' && !Object.hasOwn(place.names, name)) {
    return { message: `there is no "$${name}" here`, hint: nameHintOf(name, place, within) };
  }
  const fields = name === '' && within ? undefined : place.names[name || place.at];
  const fault = misstep(steps, fields);
  const [first = ''] = steps;
  const isName = typeof first === 'string' && name === '' && Object.hasOwn(place.names, first);
  if (fault && isName) return { ...fault, hint: `did you mean "$${text.slice(2)}"?` };
  if (fault) return fault;
  return (scope) => follow(name === '' ? scope.at : scope.names[name], steps, scope);
}

/** A hint for a path of JSONPath or jq, or with a number behind a point. */
function formHint(text: string): string {
  const [, list = '', rest = ''] = /^(\$[\w.]+)\[\*?\](.*)$/.exec(text) ?? [];
  if (list !== '' && rest === '') return `write ${list}: a list stands for all its items`;
  if (list !== '') return `write { each: ${list}, do: $${rest} }`;
  const indexed = text.replaceAll(/\.(\d{1,6})(?=[.[]|$)/g, '[$1]').replace(/^\$(?=\[)/, '$');
  if (indexed !== text && PATH.test(indexed)) return `did you mean "${indexed}"?`;
  return 'write $.key, $.list[0] or $name.key; for text that begins with $ write { const: TEXT }';
}

/** `$.prompt` for `$prompt`, where the call has a field of that name. */
function nameHintOf(name: string, place: TemplateScope, within: boolean): string {
  const fields = within ? undefined : place.names[place.at];
  if (fields && Object.hasOwn(fields, name)) return `did you mean "$.${name}"?`;
  const known = Object.keys(place.names).map((one) => `$${one}`);
  const near = nameHint(`$${name}`, known);
  return near.startsWith('did') || fields ? near : `write $.${name}; ${near}`;
}

function stepsOf(rest: string): Step[] {
  return [...rest.matchAll(STEP)].map(([, key, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return key ?? quoted ?? INDEX;
  });
}

function misstep(steps: readonly Step[], start: ScopeFields | undefined): PathFault | undefined {
  let fields = start;
  for (const step of steps) {
    if (!fields) return undefined;
    const word = step === INDEX ? '[$index]' : String(step);
    if (typeof step !== 'string' || !Object.hasOwn(fields, step)) {
      return { message: `there is no ${quote(word)} here`, hint: hintFor(word, fields) };
    }
    fields = fields[step];
  }
  return undefined;
}

function hintFor(word: string, fields: ScopeFields): string {
  const names = Object.keys(fields);
  return names.length === 0 ? 'this value has no parts' : nameHint(word, names);
}

function follow(start: unknown, steps: readonly Step[], { index }: Scope): unknown {
  let value = start;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    const key = step === INDEX ? index : step;
    if (typeof key === 'number') {
      value = Array.isArray(value) ? (value as unknown[]).at(key) : undefined;
    } else if (key === undefined || Array.isArray(value)) return undefined;
    else value = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }
  return value;
}
