import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install, type Package } from './install.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LOOPBACK_ONLY = ['--map-root-user', '--net', 'sh', '-c'];
const LOOPBACK_UP = 'ip link set lo up';

/** Programs of others, and the tests that drive them. */
interface Driven {
  packages: readonly Package[];
  /** The variable that names the folder of a run before, and tells the tests where they are. */
  variable: string;
  /** A pattern of files, from the project's folder. */
  tests: string;
}

/**
 * Installs packages at their newest versions, then runs tests that drive them, in a network of
 * their own that has nothing but the loopback interface, where the machine allows that. `--pinned`
 * takes the versions of `versions.json`; other arguments go to mocha.
 */
export async function installAndDrive({ packages, variable, tests }: Driven): Promise<void> {
  const kept = process.env[variable];
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'tollgate-driven-')));
  try {
    const args = process.argv.slice(2);
    const is_pinned = args.includes('--pinned');
    const byName = new Map(packages.map((each) => [each.name, each]));
    console.log(`Installing ${byName.size} packages in ${folder}`);
    const { versions, failures } = await install(folder, byName.values(), { is_pinned });
    console.log({ versions, failures });
    const others = args.filter((arg) => arg !== '--pinned');
    process.exitCode = await drive([join(ROOT, tests), ...others], { [variable]: folder });
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function drive(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const mocha = [join(ROOT, 'node_modules/mocha/bin/mocha.js'), '--no-parallel', '--exit', ...args];
  const canBeAlone = spawnSync('unshare', [...LOOPBACK_ONLY, LOOPBACK_UP]).status === 0;
  console.log(`Their network: ${canBeAlone ? 'loopback, nothing else' : "this machine's"}`);
  const [command, ...all] = canBeAlone
    ? ['unshare', ...LOOPBACK_ONLY, `${LOOPBACK_UP} && exec "$0" "$@"`, process.execPath, ...mocha]
    : [process.execPath, ...mocha];
  const options = { cwd: ROOT, env: { ...process.env, ...env }, stdio: 'inherit' } as const;
  const child = spawn(command, all, options);
  const [status] = (await once(child, 'close')) as [number | null];
  return status ?? 1;
}
