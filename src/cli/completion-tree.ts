import type { Argument, Command, Option } from 'commander';

/** Names that only the configuration or the store knows; `completion --list NAME` prints them. */
export const LISTS = ['accounts', 'manifests', 'models', 'models-and-providers'] as const;
export type ListName = (typeof LISTS)[number];

/** The possible words at a place of the command line; undefined if they are not known. */
export type Values =
  | { kind: 'words'; words: readonly string[] }
  | { kind: 'files' }
  | { kind: 'list'; list: ListName }
  | undefined;

interface Named {
  name: string;
  description: string;
}

/** A command with its subcommands, options and arguments. */
export interface CommandWords {
  /** `key create`; empty for the program itself. */
  path: string;
  commands: readonly Named[];
  /** By long flag. `takes` is true if the option takes a value. */
  options: readonly (Named & { short: string | undefined; takes: boolean; values: Values })[];
  arguments: readonly Values[];
}

/** The values of placeholders in arguments and options: `<model>`, `--config <file>`. */
const PLACEHOLDERS: Readonly<Record<string, Values>> = {
  file: { kind: 'files' },
  old: { kind: 'files' },
  new: { kind: 'files' },
  account: { kind: 'list', list: 'accounts' },
  manifest: { kind: 'list', list: 'manifests' },
  model: { kind: 'list', list: 'models' },
  'model|provider': { kind: 'list', list: 'models-and-providers' },
};

/** A program and all its commands, each before those within it. */
export function commandWords(command: Command, path = ''): CommandWords[] {
  const help = command.createHelp();
  const within = help.visibleCommands(command).filter((one) => one.name() !== 'help');
  const own: CommandWords = {
    path,
    commands: within.map((one) => ({ name: one.name(), description: one.description() })),
    options: help.visibleOptions(command).flatMap(optionOf),
    arguments: command.registeredArguments.map(argumentOf),
  };
  const deeper = within.flatMap((one) => {
    return commandWords(one, path === '' ? one.name() : `${path} ${one.name()}`);
  });
  return [own, ...deeper];
}

function optionOf(option: Option): CommandWords['options'] {
  const { long, short, description, argChoices, flags } = option;
  if (!long) return [];
  const takes = option.required || option.optional;
  const placeholder = /[<[]([^>\]]{1,40})/.exec(flags)?.[1];
  const values = takes ? valuesOf(placeholder, argChoices) : undefined;
  return [{ name: long, short, description, takes, values }];
}

function argumentOf(argument: Argument): Values {
  return valuesOf(argument.name(), argument.argChoices);
}

function valuesOf(placeholder: string | undefined, choices: readonly string[] | undefined): Values {
  if (choices) return { kind: 'words', words: choices };
  return placeholder === undefined ? undefined : PLACEHOLDERS[placeholder];
}
