import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const PROGRAMS = ['upstream', 'node-proxy', 'load', 'streams-upstream', 'streams-clients'];

/**
 * Writes the bench's own programs to a folder as plain JavaScript: run through a TypeScript loader,
 * the baseline would carry the loader's memory and lose.
 */
export function compile(folder: string): void {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const options = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--strict'];
  const files = PROGRAMS.map((name) => join(here, `${name}.ts`));
  execFileSync(
    process.execPath,
    [tsc, '--ignoreConfig', ...options, '--rootDir', here, '--outDir', folder, ...files],
    { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] },
  );
}
