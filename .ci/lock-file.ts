import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('../package-lock.json', import.meta.url));

interface Lock {
  packages: Record<string, { version?: string; gypfile?: false }>;
}

/**
 * Says in the lock file, as better-sqlite3 13 says in its own package.json, that it is not compiled.
 * npm leaves that out of each lock file it writes, then compiles the package where it has Python, and
 * removes it, being optional, where it has not.
 */
const lock = JSON.parse(readFileSync(FILE, 'utf8')) as Lock;
const driver = lock.packages['node_modules/better-sqlite3'];
if (driver) driver.gypfile = false;
writeFileSync(FILE, `${JSON.stringify(lock, undefined, 2)}\n`);
