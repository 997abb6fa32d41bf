import { isRecord } from '../../src/lib/objects.js';
import { broken, listIn, type GeminiObject } from '../gemini-wire.js';

const STEP = /\.([\w-]+)|\[(\d{1,6})\]|\['([^']{1,200})'\]/gu;
const DEPTH = 100;

/**
 * Adds the arguments of one event to the earlier ones. A text may arrive in pieces with the same
 * path, such as `$.city` or `$.days[0]`. Throws `UpstreamError` for an invalid path.
 */
export function addPartialArgs(args: GeminiObject, functionCall: GeminiObject): void {
  for (const partial of listIn(functionCall, 'partialArgs')) {
    const steps = stepsOf(partial.jsonPath);
    const last = steps.pop();
    if (last === undefined) throw broken('The upstream named no argument of a call.');
    let at: GeminiObject | unknown[] = args;
    for (const [i, step] of steps.entries()) {
      at = within(at, step, typeof (steps[i + 1] ?? last) === 'number');
    }
    const value = valueOf(partial);
    const there = read(at, last);
    const isMore = typeof there === 'string' && typeof value === 'string';
    write(at, last, isMore ? there + value : value);
  }
}

function stepsOf(path: unknown): (string | number)[] {
  const text = typeof path === 'string' ? path : '';
  const found = [...text.matchAll(STEP)].slice(0, DEPTH);
  return found.map(([, name, index, quoted]) => {
    return index === undefined ? (name ?? quoted ?? '') : Number(index);
  });
}

function valueOf({ stringValue, numberValue, boolValue }: GeminiObject): unknown {
  return stringValue ?? numberValue ?? boolValue ?? null;
}

function read(at: GeminiObject | unknown[], step: string | number): unknown {
  return Object.hasOwn(at, step) ? (at as Record<string | number, unknown>)[step] : undefined;
}

/** The object or list at a step. A missing one is created. */
function within(
  at: GeminiObject | unknown[],
  step: string | number,
  isList: boolean,
): GeminiObject | unknown[] {
  const there = read(at, step);
  if (isRecord(there) || Array.isArray(there)) return there;
  const made: GeminiObject | unknown[] = isList ? [] : {};
  write(at, step, made);
  return made;
}

function write(at: GeminiObject | unknown[], step: string | number, value: unknown): void {
  if (!Array.isArray(at)) {
    Object.defineProperty(at, step, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  } else if (typeof step === 'number' && step <= at.length) at[step] = value;
  else throw broken('The upstream named an argument that no list holds.');
}
