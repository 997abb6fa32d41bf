import { isRecord } from './objects.js';

/**
 * The arguments of a tool call as an object. A model may write other JSON, or break off in the
 * middle: then the object has that value, or the text, as its field `arguments`.
 */
export function argumentsObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : { arguments: value };
  } catch {
    return { arguments: text };
  }
}

/**
 * The input of a custom tool, from the arguments of the function that stands for it. A model that
 * knows the tool may write the input without the object around it.
 */
export function customInput(args: string): string {
  try {
    const value: unknown = JSON.parse(args);
    if (isRecord(value) && typeof value['input'] === 'string') return value['input'];
  } catch {
    // The text is the input.
  }
  return args;
}
