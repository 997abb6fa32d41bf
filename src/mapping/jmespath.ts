import { createRequire } from 'node:module';
import type { JSONValue } from '@jmespath-community/jmespath';
import { nameHint } from '../yaml/did-you-mean.js';
import { quote } from '../yaml/source.js';
import { isRecord } from '../lib/objects.js';
import type { PathFault } from './path.js';
import type { Template } from './scope.js';
import { UpstreamError } from '../core/upstream-error.js';

/** The library, which is loaded at the first expression: most manifests have none. */
function library() {
  const require = createRequire(import.meta.url);
  return require('@jmespath-community/jmespath') as typeof import('@jmespath-community/jmespath');
}

const MAX_CHARACTERS = 500;
/** An expression may multiply its input by this factor. */
const MAX_COPIES = 500;

/** Functions whose result is not larger than their input. */
const FUNCTIONS = [
  'abs',
  'ceil',
  'contains',
  'ends_with',
  'floor',
  'keys',
  'length',
  'lower',
  'map',
  'max',
  'max_by',
  'min',
  'min_by',
  'not_null',
  'reverse',
  'sort',
  'sort_by',
  'starts_with',
  'sum',
  'to_array',
  'to_number',
  'type',
  'upper',
  'values',
];

/**
 * Compiles a JMESPath expression over `$`, for values that paths cannot reach. Its syntax tree is
 * checked once. Functions whose result can be larger than their input are refused, and so are
 * `$` and `let`, by which an expression could loop over a list inside another.
 */
export function compileJmespath(text: unknown): Template | PathFault {
  if (typeof text !== 'string') return { message: '"jmespath" is not text', hint: '' };
  if (text.length > MAX_CHARACTERS) {
    return { message: `a JMESPath has at most ${MAX_CHARACTERS} characters`, hint: '' };
  }
  const { compile, TreeInterpreter } = library();
  let tree: ReturnType<typeof compile>;
  try {
    tree = compile(text);
  } catch {
    return { message: `${quote(text)} is not JMESPath`, hint: '' };
  }
  const fault = faultIn(tree) ?? (copies(tree) > MAX_COPIES ? tooMany() : undefined);
  if (fault) return fault;
  return (scope) => {
    try {
      // JMESPath has null for an absent value.
      return TreeInterpreter.search(tree, (scope.at ?? null) as JSONValue) ?? undefined;
    } catch (cause) {
      const message = "The upstream's answer has another shape than expected.";
      throw new UpstreamError('broken', message, undefined, { cause });
    }
  };
}

function faultIn(node: unknown): PathFault | undefined {
  if (Array.isArray(node)) return firstFault(node);
  if (!isRecord(node)) return undefined;
  const { type, name } = node;
  if (type === 'Function' && !FUNCTIONS.includes(String(name))) {
    const hint = nameHint(String(name), FUNCTIONS);
    return { message: `JMESPath: the function ${quote(String(name))} is not available`, hint };
  }
  if (type === 'Root' || type === 'LetExpression' || type === 'Variable') {
    return { message: 'JMESPath: neither "$" nor "let" is available', hint: '' };
  }
  if (name === '__proto__' || Object.hasOwn(node, '__proto__')) {
    return { message: '"__proto__" cannot be a key', hint: '' };
  }
  return firstFault(Object.values(node));
}

function firstFault(nodes: readonly unknown[]): PathFault | undefined {
  for (const node of nodes) {
    const fault = faultIn(node);
    if (fault) return fault;
  }
  return undefined;
}

/** The factor by which lists and blocks of expressions can multiply the input. */
function copies(node: unknown): number {
  if (Array.isArray(node)) return node.reduce<number>((all, one) => all * copies(one), 1);
  if (!isRecord(node)) return 1;
  const { type, children } = node;
  const own =
    type === 'MultiSelectList' || type === 'MultiSelectHash' ? [children].flat().length : 1;
  return own * copies(Object.values(node));
}

function tooMany(): PathFault {
  return { message: 'JMESPath: too many lists and blocks of expressions', hint: '' };
}
