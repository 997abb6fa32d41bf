import { dirname, join } from 'node:path';
import { noteSlips, readEnvFile } from '../yaml/env-file.js';
import { commandIo } from './command-io.js';
import { readText, tryReadText } from './text-file.js';

const MAX_MB = 1;

/**
 * The environment variables for a configuration. Variables of the process come first. The others
 * are read from `env_file`, or without one from the file `.env` beside the configuration, if it is
 * there. Throws `UsageError` if `env_file` cannot be read.
 */
export function environmentOf(config: string, env_file?: string): NodeJS.ProcessEnv {
  const text =
    env_file === undefined
      ? tryReadText(join(dirname(config), '.env'), MAX_MB)
      : readText(env_file, MAX_MB);
  const { env: own } = commandIo();
  if (text === undefined) return own;
  const env = { ...readEnvFile(text), ...own };
  noteSlips(env, env_file ?? '.env', text);
  return env;
}
