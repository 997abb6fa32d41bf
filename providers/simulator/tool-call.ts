import { parseJson } from '../../src/lib/json-text.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { fakeJson } from './fake-json.js';
import { recordIn, type BodyFields } from './wire.js';

/** The function that the simulator calls, and its arguments as JSON. */
export interface Called {
  name: string;
  arguments: string;
}

/** A function that is offered, and where the user's words name it; -1 where they do not. */
interface Offered {
  name: string;
  parameters: BodyFields;
  at: number;
}

/**
 * The function that a request asks for: the one that `tool_choice` demands, or the first that the
 * last user message names. A JSON object after the name is its arguments, as in
 * `write_file {"path": "a.txt"}`; else they are made to fit its schema. After the result of a tool
 * none is called, so that an agent comes to an end.
 */
export function calledTool(body: BodyFields, words: string): Called | undefined {
  const { tool_choice: choice } = body;
  if (choice === 'none' || hasResult(recordsIn(body.messages))) return undefined;
  const offered = recordsIn(body.tools).flatMap((tool): Offered[] => {
    const { name, ...rest } = recordIn(tool, 'function');
    if (typeof name !== 'string' || name === '') return [];
    return [{ name, parameters: recordIn(rest, 'parameters'), at: placeOf(name, words) }];
  });
  const tool = isRecord(choice)
    ? offered.find(({ name }) => name === recordIn(choice, 'function').name)
    : (firstNamed(offered) ?? (choice === 'required' ? offered[0] : undefined));
  if (!tool) return undefined;
  const { name, parameters, at } = tool;
  const given = at === -1 ? undefined : objectAt(words, at + name.length);
  return { name, arguments: given ?? JSON.stringify(fakeJson({ type: 'object', ...parameters })) };
}

function hasResult(messages: readonly BodyFields[]): boolean {
  const roles = messages.map(({ role }) => role);
  return roles.lastIndexOf('tool') > roles.lastIndexOf('assistant');
}

function firstNamed(offered: readonly Offered[]): Offered | undefined {
  const named = offered.filter(({ at }) => at !== -1);
  return named.toSorted((one, other) => one.at - other.at)[0];
}

/** The position of a name in a text as a whole word; -1 if there is none. */
function placeOf(name: string, text: string): number {
  let at = text.indexOf(name);
  while (at !== -1) {
    const around = `${text[at - 1] ?? ' '}${text[at + name.length] ?? ' '}`;
    if (!/\w/u.test(around)) return at;
    at = text.indexOf(name, at + 1);
  }
  return -1;
}

/** The JSON object that begins at `from`, behind spaces and marks of quotation. */
function objectAt(text: string, from: number): string | undefined {
  const gap = /^[\s`"':]{0,8}/u.exec(text.slice(from, from + 8))?.[0].length ?? 0;
  const begin = from + gap;
  if (text[begin] !== '{') return undefined;
  const end = endOfObject(text, begin);
  const json = text.slice(begin, end);
  return parseJson(json) === undefined ? undefined : json;
}

/** Behind the brace that closes the one at `begin`. */
function endOfObject(text: string, begin: number): number {
  let [depth, isText] = [0, false];
  for (let at = begin; at < text.length; at += 1) {
    const letter = text[at];
    if (isText && letter === '\\') at += 1;
    else if (letter === '"') isText = !isText;
    else if (!isText && letter === '{') depth += 1;
    else if (!isText && letter === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}
