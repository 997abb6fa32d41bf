import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of package.json, `providers/` and `schemas/`. The search goes upwards, because the
 * same code runs from `src/` and from `dist/src/`.
 */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('No package.json stands above the code.');
  return findRoot(parent);
}

/** The version and the description of this program. */
export function packageFacts(): { version: string; description: string } {
  const text = readFileSync(join(packageRoot, 'package.json'), 'utf8');
  return JSON.parse(text) as { version: string; description: string };
}
