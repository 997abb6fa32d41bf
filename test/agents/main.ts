import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENTS } from './agents.js';
import { install } from './install.js';

/**
 * `npm run test:agents`: installs the newest agents of the registries, then drives them in a network
 * of their own that has nothing but the loopback interface, where the machine allows that.
 * `--pinned` takes the versions of `versions.json`; `TOLLGATE_TEST_AGENTS=FOLDER` keeps the agents
 * for the next run; other arguments go to mocha.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LOOPBACK_ONLY = ['--map-root-user', '--net', 'sh', '-c'];
const LOOPBACK_UP = 'ip link set lo up';

const kept = process.env.TOLLGATE_TEST_AGENTS;
const folder = kept ?? (await mkdtemp(join(tmpdir(), 'tollgate-agents-')));
try {
  const packages = new Map(AGENTS.map((agent) => [agent.package.name, agent.package]));
  const args = process.argv.slice(2);
  const is_pinned = args.includes('--pinned');
  console.log(`Installing ${packages.size} packages, and Node, in ${folder}`);
  const { versions, failures } = await install(folder, packages.values(), { is_pinned });
  console.log({ versions, failures });
  const others = args.filter((arg) => arg !== '--pinned');
  process.exitCode = await drive(folder, others);
} finally {
  if (kept === undefined) await rm(folder, { recursive: true, force: true });
}

async function drive(installed: string, args: readonly string[]): Promise<number> {
  const mocha = [
    join(ROOT, 'node_modules/mocha/bin/mocha.js'),
    '--no-parallel',
    '--exit',
    join(ROOT, 'test/agents/*.agent.ts'),
    ...args,
  ];
  const canBeAlone = spawnSync('unshare', [...LOOPBACK_ONLY, LOOPBACK_UP]).status === 0;
  console.log(`Network of the agents: ${canBeAlone ? 'loopback, nothing else' : "this machine's"}`);
  const [command, ...all] = canBeAlone
    ? ['unshare', ...LOOPBACK_ONLY, `${LOOPBACK_UP} && exec "$0" "$@"`, process.execPath, ...mocha]
    : [process.execPath, ...mocha];
  const child = spawn(command, all, {
    cwd: ROOT,
    env: { ...process.env, TOLLGATE_TEST_AGENTS: installed },
    stdio: 'inherit',
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return status ?? 1;
}
