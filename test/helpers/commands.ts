import type { Place } from './cli.js';

/** A command as its help shows it. */
export interface ShownCommand {
  /** `key create`. */
  path: string;
  /** Long flags, `--config`. */
  options: string[];
  /** Names of the commands within it. */
  commands: string[];
}

/** Every command of the program, by its help: groups before the commands within them. */
export async function allCommands(place: Place, path: string[] = []): Promise<ShownCommand[]> {
  const { stdout } = await place.tollgate(...path, '--help');
  const [, commands = ''] = /\nCommands:\n([\s\S]+?)\n\n/u.exec(stdout) ?? [];
  const names = [...commands.matchAll(/^ {2}([a-z][a-z-]*)/gmu)].map(([, name = '']) => name);
  const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gmu)].map(
    ([, flag = '']) => flag,
  );
  const within = names.filter((name) => name !== 'help');
  const deeper = await Promise.all(within.map((name) => allCommands(place, [...path, name])));
  return [{ path: path.join(' '), options, commands: within }, ...deeper.flat()];
}
