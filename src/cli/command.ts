import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { Unreadable } from '../yaml/unreadable.js';
import { format, type ReadLines } from '../yaml/format.js';
import { ConfigError } from '../config/config-error.js';
import { isRecord } from '../lib/is-record.js';

/** A command whose help ends with an example, and whose failures are one sentence each. */
export function command(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .showSuggestionAfterError()
    .showHelpAfterError('Run it with --help to see what it takes.')
    .configureOutput({ outputError: (text, write) => write(text.replace('error:', 'tollgate:')) })
    .addHelpText('after', `\nExample:\n  $ ${example}\n`);
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

/** The option that every command has. */
export function withConfig(target: Command): Command {
  return target.option('--config <file>', 'the configuration to use', 'gateway.yaml');
}

/**
 * Runs a command. A failure is on standard error, never a stack trace, and sets the exit status: 2
 * for a file that cannot be read, `invalid` for a configuration with faults, else 1. It is one
 * sentence. Only the faults of a configuration are shown with their lines, unless the command has
 * `--json`.
 */
export function acting<A extends unknown[]>(
  work: (...args: A) => Promise<void>,
  { invalid }: { invalid: 1 | 2 } = { invalid: 1 },
): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await work(...args);
    } catch (error) {
      if (error instanceof Unreadable) process.exitCode = 2;
      else process.exitCode = error instanceof ConfigError ? invalid : 1;
      process.stderr.write(`${complaint(error, args.some(isForMachines))}\n`);
    }
  };
}

/** Of the arguments that commander gives: the options, where they have `--json`. */
function isForMachines(argument: unknown): boolean {
  return isRecord(argument) && argument['json'] === true;
}

function complaint(error: unknown, brief: boolean): string {
  if (!(error instanceof ConfigError)) return `tollgate: ${sentence(error)}`;
  const { faults } = error;
  if (!brief) return format(faults, 'text', readLines());
  const first = faults.filter(({ severity }) => severity === 'error').slice(0, 1);
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more: see tollgate check)` : '';
  return `tollgate: ${format(first.length > 0 ? first : faults.slice(0, 1), 'text')}${more}`;
}

/** The first line of an error's message. */
export function sentence(error: unknown): string {
  const { message = 'unknown fault' } = error instanceof Error ? error : {};
  const [line = ''] = message.split('\n', 1);
  return line.replace(/^[A-Z](?=[a-z]* )/u, (letter) => letter.toLowerCase());
}

/** An argument is invalid. The message is for the person who typed it. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The lines of the files at fault, each file read once. A file that has gone gives none. */
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
