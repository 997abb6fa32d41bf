import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_MS = 900_000;

/** A package of a registry, with the folder of its commands. */
export interface Package {
  /** Of a Python package with its extras in brackets. */
  name: string;
  registry: 'npm' | 'pypi';
  bin: string;
}

/** The agents ask for Node 22, which the tests themselves need not run on. */
export const NODE: Package = { name: 'node', registry: 'npm', bin: 'node_modules/node/bin' };

export function npmPackage(name: string, bin = 'node_modules/.bin'): Package {
  return { name, registry: 'npm', bin };
}

export function pypiPackage(name: string): Package {
  return { name, registry: 'pypi', bin: 'venv/bin' };
}

/** Which versions are there, and why others are not. */
interface Installed {
  versions: Record<string, string>;
  failures: Record<string, string>;
}

const PINNED = new URL('versions.json', import.meta.url);

/**
 * Installs packages, each into a folder of its own in `root`: at the versions of `versions.json` if
 * `is_pinned`, as Node always is, else at the newest. One that cannot be installed is noted, unless
 * its version is pinned.
 */
export async function install(
  root: string,
  packages: Iterable<Package>,
  { is_pinned }: { is_pinned: boolean },
): Promise<Installed> {
  const pinned = JSON.parse(readFileSync(PINNED, 'utf8')) as Record<string, string>;
  const installed: Installed = { versions: {}, failures: {} };
  for (const each of packages) {
    const { name } = each;
    const must = is_pinned || each === NODE;
    try {
      const version = (must ? pinned[name] : undefined) ?? (await newestVersion(each));
      await installInto(join(root, folderName(name, version)), each, version);
      installed.versions[name] = version;
    } catch (error) {
      if (must) throw error;
      installed.failures[name] = String(error).split('\n')[0] ?? '';
    }
  }
  await writeFile(join(root, 'installed.json'), JSON.stringify(installed, null, 2));
  return installed;
}

/** What `install` put into a folder. */
export function installedIn(root: string): Installed {
  return JSON.parse(readFileSync(join(root, 'installed.json'), 'utf8')) as Installed;
}

/** The value of PATH that finds an installed package's commands and the Node that they need. */
export function pathOf(root: string, of: Package): string {
  return `${commandsOf(root, NODE)}:${commandsOf(root, of)}:/usr/local/bin:/usr/bin:/bin`;
}

/** The folder of an installed package's commands. */
export function commandsOf(root: string, { name, bin }: Package): string {
  const { versions } = installedIn(root);
  return join(root, folderName(name, versions[name] ?? ''), bin);
}

function folderName(name: string, version: string): string {
  return `${name.replace(/^@/u, '').replaceAll('/', '-')}-${version}`;
}

async function newestVersion({ name, registry }: Package): Promise<string> {
  const plain = name.replace(/\[.*/u, '');
  const { stdout } =
    registry === 'npm'
      ? await run('npm', ['view', name, 'version'])
      : await run('python3', ['-m', 'pip', 'index', 'versions', plain]);
  const [version] =
    /\d[\w.+-]*/u.exec(registry === 'npm' ? stdout : stdout.slice(plain.length)) ?? [];
  if (version === undefined) throw new Error(`There is no version of ${name}.`);
  return version;
}

async function installInto(folder: string, of: Package, version: string): Promise<void> {
  const mark = join(folder, 'done');
  if (existsSync(mark)) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await (of.registry === 'npm' ? installNpm : installPypi)(folder, of.name, version);
  await writeFile(mark, '');
}

async function installNpm(cwd: string, name: string, version: string): Promise<void> {
  const dependencies = { [name]: version };
  const manifest = { private: true, dependencies, allowScripts: { [name]: true } };
  await writeFile(join(cwd, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await run('npm', args, { cwd, timeout: INSTALL_MS });
}

async function installPypi(cwd: string, name: string, version: string): Promise<void> {
  // A pip of its own would take longer than most packages.
  await run('python3', ['-m', 'venv', '--without-pip', 'venv'], { cwd, timeout: INSTALL_MS });
  const pip = ['-m', 'pip', '--python', 'venv/bin/python', '--disable-pip-version-check'];
  const args = [...pip, 'install', '--quiet', '--prefer-binary', `${name}==${version}`];
  await run('python3', args, { cwd, timeout: INSTALL_MS });
}
