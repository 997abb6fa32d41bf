import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The agents ask for Node 22, which the tests themselves need not run on. */
export const NODE: Package = { name: 'node', version: '22.23.3' };
const INSTALL_MS = 600_000;

/** A package of the npm registry at one version. */
export interface Package {
  name: string;
  version: string;
}

/** Installs packages, and the Node that they need, each into a folder of its own in `root`. */
export async function install(root: string, packages: Iterable<Package>): Promise<void> {
  for (const each of [NODE, ...packages]) await installInto(folderOf(root, each), each);
}

/** The value of PATH that finds an installed package's commands and the Node that they need. */
export function pathOf(root: string, of: Package): string {
  const node = join(folderOf(root, NODE), 'node_modules/node/bin');
  const commands = join(folderOf(root, of), 'node_modules/.bin');
  return `${node}:${commands}:/usr/local/bin:/usr/bin:/bin`;
}

function folderOf(root: string, { name, version }: Package): string {
  return join(root, `${name.replace(/^@/u, '').replaceAll('/', '-')}-${version}`);
}

async function installInto(folder: string, { name, version }: Package): Promise<void> {
  await mkdir(folder, { recursive: true });
  const dependencies = { [name]: version };
  const manifest = { private: true, dependencies, allowScripts: { [name]: true } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await promisify(execFile)('npm', args, { cwd: folder, timeout: INSTALL_MS });
}
