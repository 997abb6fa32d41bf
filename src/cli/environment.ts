import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from './command.js';

const MAX_BYTES = 1024 * 1024;

/**
 * The variables for a configuration: those of the process, and for names that it lacks those of
 * `env_file`, by default the file `.env` beside the configuration where there is one. Throws
 * `UsageError` where a named file cannot be read.
 */
export function environmentOf(config: string, env_file?: string): NodeJS.ProcessEnv {
  const file = env_file ?? join(dirname(config), '.env');
  const text = textOf(file);
  if (text === undefined) {
    if (env_file === undefined) return process.env;
    throw new UsageError(`${env_file} cannot be read: it is missing, no file, or too large`);
  }
  return { ...parseEnv(text), ...process.env };
}

function textOf(file: string): string | undefined {
  try {
    const stat = statSync(file);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
