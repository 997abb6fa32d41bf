import { nameHint } from '../yaml/did-you-mean.js';
import { flow } from '../yaml/schema-walk.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import { isRecord } from '../lib/objects.js';
import { OPERATORS } from './operators.js';
import type { PathFault } from './path.js';
import type { TemplateScope } from './template-scopes.js';

/** A name in the form of other template languages: `{{ prompt }}`, `{{.prompt}}`, `{prompt}`. */
const BRACES = /\{\{-?\s*[.$]*([\w.[\]]+)\s*-?\}\}|\{\$?\.?([a-z_][\w.]*)\}|(\$\.[\w.[\]]+)/i;
/** A name alone, in the forms of further languages: `.prompt`, `<prompt>`, `%prompt%`, `prompt`. */
const LONE = /^(?:\.([a-z_][\w.]*)|<([a-z_][\w.]*)>|%([a-z_][\w.]*)%|([a-z_][\w.]*))$/i;
/** A longer text is no slip. */
const MAX_CHARACTERS = 200;

/**
 * What is wrong with a text that is sent as it stands, but looks like a path without its `$`;
 * undefined for any other text. `key` is the key in front of it.
 */
export function plainPath(
  text: string,
  key: string,
  place: TemplateScope,
  within: boolean,
): PathFault | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const message = `${quote(text)} is a text, and no path to a value`;
  const lone = LONE.exec(text)?.slice(1);
  const name = lone?.find((one) => one !== undefined);
  if (lone && name !== undefined) {
    const isBare = lone.at(-1) !== undefined;
    const path = knownPath(name, place, within);
    // `type: image` is a constant, and `image: image` is none.
    const isMeant = isBare ? name === key || /^n$|^prompt$|_/.test(name) : true;
    const isOpen = isBare && name === key && path === undefined;
    if (isOpen && isUnknown(place, within)) return { message, hint: `write $.${name}` };
    return path !== undefined && isMeant ? { message, hint: `write ${path}` } : undefined;
  }
  if (!BRACES.test(text)) return undefined;
  const parts = partsOfText(text, place, within);
  if (parts.every(({ path }) => path === undefined)) return unknownName(text, message, place);
  const words = parts.map(({ path, plain }) => path ?? flow(plain));
  const [only = ''] = words;
  return {
    message,
    hint: `write ${words.length === 1 ? only : `{ concat: [${words.join(', ')}] }`}`,
  };
}

interface TextPart {
  plain: string;
  path?: string | undefined;
}

/** The texts and the paths in a text such as `Paint: {{ prompt }}`. */
function partsOfText(text: string, place: TemplateScope, within: boolean): TextPart[] {
  const parts: TextPart[] = [];
  let rest = text;
  for (let found = BRACES.exec(rest); found; found = BRACES.exec(rest)) {
    const [whole, double, single, path] = found;
    const given = double ?? single ?? '';
    const isOpen = double !== undefined && isUnknown(place, within);
    const known = path ?? knownPath(given, place, within) ?? (isOpen ? `$.${given}` : undefined);
    if (found.index > 0) parts.push({ plain: rest.slice(0, found.index) });
    parts.push({ plain: whole, path: known });
    rest = rest.slice(found.index + whole.length);
  }
  return rest === '' ? parts : [...parts, { plain: rest }];
}

/** Two pairs of braces are never meant as a text, whatever stands between them. */
function unknownName(text: string, message: string, place: TemplateScope): PathFault | undefined {
  const [, name] = /\{\{-?\s*[.$]*(?:\w+\.)*(\w+)\s*-?\}\}/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const known = Object.keys(place.names[place.at] ?? {}).map((one) => `$.${one}`);
  const near = nameHint(`$.${name}`, known);
  return { message, hint: `a path is $.NAME, without braces; ${near}` };
}

function isUnknown(place: TemplateScope, within: boolean): boolean {
  return within || place.names[place.at] === undefined;
}

/** The path to a value that the place is known to have: `$.prompt` for `input.prompt`. */
function knownPath(name: string, place: TemplateScope, within: boolean): string | undefined {
  const words = name.split('.');
  const fields = within ? undefined : place.names[place.at];
  const at = fields ? words.findIndex((word) => Object.hasOwn(fields, word)) : -1;
  if (at >= 0) return `$.${words.slice(at).join('.')}`;
  const last = words.at(-1) ?? '';
  return last === 'model' && Object.hasOwn(place.names, 'model') ? '$model' : undefined;
}

/** What is wrong with a text where a value is read from the call or the answer. */
export function constantInput(value: unknown): PathFault | undefined {
  if (typeof value !== 'string' || value.startsWith('$')) return undefined;
  const name = /[a-z_][\w.]*/i.exec(value)?.[0] ?? 'key';
  return { message: `${quote(value)} is a text, and no path to a value`, hint: `write $.${name}` };
}

/**
 * Reports the parts of an answer that are the same text in every answer, and the items of a list
 * that are no block with one of the wanted keys, of which the first is the usual one.
 */
export function checkAnswer(
  source: Source,
  pointer: string,
  block: Readonly<Record<string, unknown>>,
  list: { name: string; wanted: readonly string[]; takesText: boolean },
): void {
  for (const name of [list.name, 'usage', 'error']) {
    const wrong = constantInput(block[name]);
    const place = pointer + join(name);
    if (!wrong || source.hides(place)) continue;
    const message = `${name}: ${wrong.message}`;
    source.fault(place, { code: 'bad_template', message, hint: wrong.hint });
  }
  const items = block[list.name];
  if (!isRecord(items) || !Object.hasOwn(items, 'each')) return;
  const place = pointer + join(list.name, 'do');
  const hint = itemHint(items.do, list);
  if (hint === undefined || source.hidesWithin(place)) return;
  const message = `${list.name}: an item is a block with ${list.wanted.join(' or ')}`;
  source.fault(place, { code: 'bad_template', message, hint });
}

/** The block to write in place of an item that has none of the keys which are read. */
function itemHint(
  item: unknown,
  { wanted, takesText }: { wanted: readonly string[]; takesText: boolean },
): string | undefined {
  const [usual = ''] = wanted;
  const keyFor = (path: string): string =>
    wanted.find((key) => /b64|base64|data$/i.test(path) && key.startsWith('b64')) ?? usual;
  if (typeof item === 'string') {
    return takesText || item === '$' ? undefined : `write do: ${flow({ [keyFor(item)]: item })}`;
  }
  if (!isRecord(item)) return undefined;
  const keys = Object.keys(item);
  if (keys.some((key) => OPERATORS.has(key) || wanted.includes(key))) return undefined;
  const [key = ''] = keys;
  const value = item[key];
  if (typeof value !== 'string') return `write do: { ${usual}: ... }`;
  return `write do: ${flow({ [keyFor(key + value)]: value })}`;
}
