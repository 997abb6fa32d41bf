import type { Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { ErrorsBlock } from '../schema-types/provider.js';
import { compile } from './compile.js';
import { TEMPLATE_SCOPES } from './template-scopes.js';
import { evaluate, type Template } from './scope.js';
import type { Fault, ErrorReader, ErrorWords } from '../core/upstream-error.js';

/** The first fault whose word an error contains counts. */
const FAULTS = [
  'policy',
  'context',
  'quota',
  'rate_limited',
  'credentials',
  'missing',
  'overloaded',
  'timeout',
  'rejected',
] as const satisfies readonly Fault[];

/** Words are searched in this many characters of the message and of the code. */
const MATCHED_CHARACTERS = 4_096;

/**
 * Compiles `errors:` of a manifest: the templates of an error's message and code, and the words by
 * which it is classified. Undefined if the manifest has no such block.
 */
export function compileErrors(
  source: Source,
  block: PartialLoad<ErrorsBlock> | undefined,
): ErrorReader | undefined {
  if (!block) return undefined;
  const context = { source, place: TEMPLATE_SCOPES.error };
  const message = compile(block.message, '/errors/message', context);
  const code = compile(block.code, '/errors/code', context);
  const words = FAULTS.flatMap((fault) =>
    (block[fault] ?? []).flatMap((word) => (word === undefined ? [] : { fault, word })),
  ).map(({ fault, word }) => ({ fault, word: word.toLowerCase() }));
  return (body, status, plain, headers) => {
    const named = codeIn(headers[block.code_header ?? '']);
    const read = { ...plain, ...textAt('message', message, body, status) };
    const codes = named === undefined ? plain.codes : [named, ...plain.codes];
    const own = textAt('marks', code, body, status).marks ?? plain.marks;
    const marks = [named ?? '', own].join(' ').trim().toLowerCase();
    const searched = [marks, read.message].map((one) => one.slice(0, MATCHED_CHARACTERS));
    const text = searched.join(' ').toLowerCase();
    const fault = words.find(({ word }) => text.includes(word))?.fault;
    return { ...read, marks, codes, ...(fault && { fault }) };
  };
}

const HEADER_CODE = /^(?:[^#:]{0,200}#)?([\w.-]{1,64})(?:$|:)/u;

/** The code in a header's value, without the name space before it and the address behind it. */
function codeIn(value: string | undefined): string | undefined {
  return value === undefined ? undefined : HEADER_CODE.exec(value)?.[1];
}

function textAt(
  name: 'message' | 'marks',
  template: Template,
  body: unknown,
  status: number | undefined,
): Partial<Pick<ErrorWords, 'message' | 'marks'>> {
  try {
    const text = evaluate(template, body, { body, status });
    return typeof text === 'string' && text !== '' ? { [name]: text } : {};
  } catch {
    // An error that cannot be read is classified by its status.
    return {};
  }
}
