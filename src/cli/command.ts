import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { Unreadable } from '../yaml/unreadable.js';
import { format, type ReadLines } from '../yaml/format.js';
import { ConfigError } from '../config/config-error.js';
import { isRecord } from '../lib/objects.js';
import { commandIo } from './command-io.js';

/** A command whose help ends with an example, and whose failures are one sentence each. */
export function command(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .showSuggestionAfterError()
    .showHelpAfterError('Run it with --help to see its arguments and options.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => commandIo().stdout.write(text),
      writeErr: (text) => commandIo().stderr.write(text),
      outputError: (text, write) => write(worded(text)),
    })
    .addHelpText('after', `\nExample:\n  $ ${example}`);
}

const BAD_CHOICE = /command-argument value ('.*') is invalid for argument '(.*)'\./u;

/** An error of the parser, in the style of all others. */
function worded(text: string): string {
  return text
    .replace('error:', 'tollgate:')
    .replace(BAD_CHOICE, 'there is no $2 $1.')
    .replace(/\.\n$/u, '\n');
}

/** A command that only groups other commands. */
export function group(
  name: string,
  description: string,
  example: string,
  parts: readonly Command[],
): Command {
  const whole = command(name, description, example);
  for (const part of parts) whole.addCommand(withConfig(part));
  return whole;
}

/** Adds the option `--config`. */
export function withConfig(target: Command): Command {
  return target.option('--config <file>', 'the configuration to use', 'gateway.yaml');
}

/** Gathers the values of an option that may be repeated. */
export function repeated(value: string, previous?: unknown): string[] {
  return [...(Array.isArray(previous) ? (previous as string[]) : []), value];
}

/**
 * Wraps the action of a command. A failure sets the exit status: 2 if a file cannot be read,
 * `invalid` if a configuration has faults, else 1. It is printed on standard error as one sentence,
 * without a stack trace. The faults of a configuration are printed with their lines, unless the
 * command has `--json`.
 */
export function acting<A extends unknown[]>(
  work: (...args: A) => Promise<void>,
  { invalid }: { invalid: 1 | 2 } = { invalid: 1 },
): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await work(...args);
    } catch (error) {
      const io = commandIo();
      if (error instanceof Unreadable) io.exit_status = 2;
      else io.exit_status = error instanceof ConfigError ? invalid : 1;
      io.stderr.write(`${failureText(error, args.some(hasJsonOption))}\n`);
    }
  };
}

/** Whether an argument of an action is the object of its options, and `--json` is one of them. */
function hasJsonOption(argument: unknown): boolean {
  return isRecord(argument) && argument.json === true;
}

function failureText(error: unknown, isBrief: boolean): string {
  if (!(error instanceof ConfigError)) return `tollgate: ${sentence(error)}`;
  const { faults } = error;
  if (!isBrief) return format(faults, 'text', readLines());
  const first = faults.find(({ severity }) => severity === 'error') ?? faults[0];
  const others = faults.length > 1 ? ` (and ${faults.length - 1} more: see tollgate check)` : '';
  return `tollgate: ${format(first ? [first] : [], 'text')}${others}`;
}

/** The first line of an error's message, to stand within a sentence: without a final period. */
export function sentence(error: unknown): string {
  const { message = 'unknown fault' } = error instanceof Error ? error : {};
  const [line = ''] = message.split('\n', 1);
  const open = line.replace(/(?<!\.)\.$/u, '');
  return open.replace(/^[A-Z](?=[a-z]* )/u, (letter) => letter.toLowerCase());
}

/** An argument is invalid, or cannot be carried out. The message is for the person who typed it. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Reads the lines of files, each file once. A file that cannot be read has no lines. */
export function readLines(): ReadLines {
  const files = new Map<string, readonly string[] | undefined>();
  return (file) => {
    if (!files.has(file)) files.set(file, linesOf(file));
    return files.get(file);
  };
}

function linesOf(file: string): readonly string[] | undefined {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/);
  } catch {
    return undefined;
  }
}
