import { isRecord } from '../lib/objects.js';
import type { Colour, Paint } from '../lib/colour.js';
import { clock, legible } from './access-log.js';

const LEVELS: readonly [from: number, name: string, colour: Colour][] = [
  [60, 'FATAL', 'red'],
  [50, 'ERROR', 'red'],
  [40, 'WARN', 'yellow'],
  [30, 'INFO', 'green'],
  [0, 'DEBUG', 'dim'],
];
const VALUE_CHARACTERS = 400;
const STACK_CHARACTERS = 4_000;

/** Formats a JSON line of pino for a terminal. Lists and stacks follow below the line. */
export function entryText(json: string, paint: Paint): string {
  const { level, time, msg, err, ...rest } = JSON.parse(json) as Record<string, unknown>;
  const [, name, colour] = LEVELS.find(([from]) => Number(level) >= from) ?? [0, 'INFO', 'green'];
  const error = isRecord(err) ? err : {};
  const fields = { ...rest, ...('message' in error && { error: error.message }) };
  const [lists, facts] = [[] as string[], [] as string[]];
  for (const [key, value] of Object.entries(fields)) {
    if (Array.isArray(value)) lists.push(...value.map((item) => `    ${shown(item)}\n`));
    else facts.push(`${paint('dim', `${legible(key)}=`)}${shown(value)}`);
  }
  const words = typeof msg === 'string' ? legible(msg, VALUE_CHARACTERS) : '';
  const head = [paint('dim', clock(Number(time))), paint(colour, name.padEnd(5)), words];
  const line = [...head, ...facts].filter((part) => part !== '').join(' ');
  return `${line}\n${lists.join('')}${stackText(error, paint)}`;
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return legible(text, VALUE_CHARACTERS);
}

/** The frames of an error's stack. Its message is in the line above. */
function stackText({ stack }: Record<string, unknown>, paint: Paint): string {
  if (typeof stack !== 'string') return '';
  const frames = stack.slice(0, STACK_CHARACTERS).split('\n');
  return frames
    .filter((frame) => /^ {4}at /u.test(frame))
    .map((frame) => `${paint('dim', legible(frame))}\n`)
    .join('');
}
