import { isRecord } from './objects.js';

/**
 * The text of a block of a type that is not known. The hold is computed from it, so every upstream
 * must get this text and no other.
 */
export function textOfBlock({ text, content }: { text?: unknown; content?: unknown }): string {
  return typeof text === 'string' ? text : allText(content);
}

/** All text in a value of any shape, as `textOfBlock` says it. */
export function allText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(allText).join('\n');
  if (!isRecord(value)) return '';
  return typeof value.text === 'string' ? value.text : JSON.stringify(value);
}
