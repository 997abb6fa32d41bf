import { JsonTexts } from './json-text.js';
import { isRecord } from './objects.js';

/**
 * The arguments of a tool call as an object. A model may write other JSON, or break off in the
 * middle: then the object has that value, or the text, as its field `arguments`. Arguments with
 * more values than `texts` takes stay a text too.
 */
export function argumentsObject(text: string, texts = new JsonTexts()): Record<string, unknown> {
  if (text.trim() === '') return {};
  const value = texts.parse(text);
  return isRecord(value) ? value : { arguments: value === undefined ? text : value };
}

/**
 * The input of a custom tool, from the arguments of the function that stands for it. A model that
 * knows the tool may write the input without the object around it.
 */
export function customInput(args: string, texts = new JsonTexts()): string {
  const value = texts.parse(args);
  return isRecord(value) && typeof value.input === 'string' ? value.input : args;
}
