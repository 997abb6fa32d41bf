import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SettingsFile } from '../dashboard/coding-agents.js';
import { fileFault } from '../lib/file-fault.js';
import { replaceFile } from '../lib/replace-file.js';
import { UsageError } from './command.js';
import { commandIo } from './command-io.js';
import { UnsafeText, withSettings } from './settings-text.js';
import { tryReadText } from './text-file.js';

const MAX_MB = 4;
/** A settings file may hold a key, and so may a copy of it. */
const MODE = 0o600;

/** A settings file as it shall be. */
export interface PlannedFile {
  path: string;
  /** Undefined where there is no file yet. */
  before: string | undefined;
  text: string;
}

/** Where a settings file is, for the person who runs the command. */
export function settingsPath({ folder, name }: SettingsFile): string {
  const { env } = commandIo();
  const given = folder.variable === undefined ? undefined : env[folder.variable];
  const home = env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME;
  return join(given === undefined || given === '' ? join(home, folder.path) : given, name);
}

/** Reads a settings file and puts its values in. Throws `UsageError` where that is not safe. */
export function plannedFile(file: SettingsFile): PlannedFile {
  const path = settingsPath(file);
  const before = tryReadText(path, MAX_MB);
  try {
    const values = before === undefined ? { ...file.first, ...file.values } : file.values;
    return { path, before, text: withSettings(before ?? '', { ...file, values }) };
  } catch (error) {
    if (!(error instanceof UnsafeText)) throw error;
    throw new UsageError(`${path} ${error.message}: mend it, or paste the lines without --write`);
  }
}

/**
 * Writes a planned file in one step, readable by its owner alone. Returns the path of the copy of
 * what was there, if it was changed.
 */
export async function writePlanned({
  path,
  before,
  text,
}: PlannedFile): Promise<string | undefined> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // A link stays one: people keep such files in a repository.
    const real = await realpath(path).catch(() => path);
    if (text === before) {
      await chmod(real, MODE);
      return undefined;
    }
    const copy = before === undefined ? undefined : await copyOf(real);
    await replaceFile(real, text, MODE);
    return copy;
  } catch (error) {
    const fault = fileFault(path, error);
    throw fault === undefined ? error : new UsageError(fault);
  }
}

/** Copies a file beside itself, never over an earlier copy. */
async function copyOf(file: string): Promise<string> {
  for (let at = 1; ; at += 1) {
    const copy = `${file}.${at === 1 ? 'bak' : `bak${at}`}`;
    try {
      await copyFile(file, copy, constants.COPYFILE_EXCL);
      await chmod(copy, MODE);
      return copy;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
}
