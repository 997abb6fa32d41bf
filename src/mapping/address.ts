import { nearestWord } from '../yaml/did-you-mean.js';
import { quote } from '../yaml/source.js';
import type { PathFault } from './path.js';
import type { Template } from './scope.js';
import { UpstreamError } from '../core/upstream-error.js';

const MAX_CHARACTERS = 8_192;
const PLACEHOLDER = /\{([^{}]*)\}/u;
const HINT = 'write {model} or {$name.key}';
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Compiles the text of an address, such as `/models/{model}/run` or `/jobs/{$state.id}`. Each value
 * is encoded; a model keeps its slashes. The address is absent if one of its values is.
 */
export function compileText(
  text: string,
  compilePath: (path: string) => Template | PathFault,
): Template | PathFault {
  const parts: Template[] = [];
  for (const [at, part] of text.split(PLACEHOLDER).entries()) {
    // `split` by a pattern with a group gives the texts in braces as the odd parts.
    if (at % 2 === 0) {
      const wrong = foreignPart(part, text);
      if (wrong) return wrong;
      parts.push(() => part);
    } else {
      const path =
        part === 'model' || part.startsWith('$') ? compilePath(pathOf(part)) : unknownPart(part);
      if (typeof path !== 'function') return path;
      parts.push((scope) => encoded(path(scope), part === 'model'));
    }
  }
  return (scope) => {
    const values = parts.map((part) => part(scope));
    return values.includes(undefined) ? undefined : values.join('');
  };
}

/** What is wrong with a text that stands as it is in an address: a value in another form. */
function foreignPart(part: string, text: string): PathFault | undefined {
  const [form] = /\$\w+|(?<=\/):\w+|<\w+>|[{}]/u.exec(part) ?? [];
  if (form === undefined) return undefined;
  const whole = /\{\{[^{}]*\}\}?/u.exec(text)?.[0] ?? form;
  const [name = 'model'] = /\w[\w.]*/u.exec(whole) ?? [];
  const right = name === 'model' ? '{model}' : `{$.${name}}`;
  return { message: `${quote(whole)} stands for no value in an address`, hint: `write ${right}` };
}

function pathOf(part: string): string {
  return part === 'model' ? '$model' : part;
}

function unknownPart(part: string): PathFault {
  const near = nearestWord(part, ['model']) && 'did you mean "{model}"?';
  return { message: `there is no ${quote(`{${part}}`)} here`, hint: near ?? HINT };
}

/** Encodes a value. Throws `UpstreamError` for an empty segment, `.` or `..`, encoded or not. */
function encoded(value: unknown, keepsSlashes: boolean): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const segments = keepsSlashes ? String(value).split('/') : [String(value)];
  if (segments.some((segment) => /^\.{0,2}$/u.test(segment) || LONE_SURROGATE.test(segment))) {
    throw new UpstreamError(
      'broken',
      'The upstream gave a part of an address that cannot be used.',
    );
  }
  return segments.map(encodeURIComponent).join('/');
}

/** Checks an evaluated address. Throws `UpstreamError` if it is absent or no address. */
export function addressFrom(value: unknown): string {
  const isShort = typeof value === 'string' && value.length <= MAX_CHARACTERS;
  if (isShort && /^(\/(?!\/)|https?:\/\/)[^\s\\]*$/iu.test(value)) return value;
  throw new UpstreamError('broken', 'The upstream gave no address for the next request.');
}
