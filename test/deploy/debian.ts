import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../helpers/until.js';
import {
  environmentOf,
  ignores,
  lastOf,
  stagesOf,
  wordsOf,
  type Stage,
} from './helpers/dockerfile.js';
import { makeBase } from './helpers/debian-base.js';

/**
 * Runs what deploy/Dockerfile says in a clean Debian, for machines without Docker: the base image is
 * `debootstrap` with Node from the registry's own package. Then it starts the image as PID 1 of its
 * own process namespace, and uses it as the page on operating says. Needs root and the network.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const SEARCHED = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const STARTED_MS = 60_000;
const STOPPED_MS = 10_000;

async function main(): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('It needs root, for chroot and debootstrap.');
  const kept = process.env.TOLLGATE_TEST_DEPLOY;
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'tollgate-deploy-'));
  try {
    mkdirSync(folder, { recursive: true });
    const base = makeBase(folder);
    const image = build(folder, base);
    await use(image);
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

interface Image {
  path: string;
  stage: Stage;
}

function build(folder: string, base: string): Image {
  const built = new Map<string, string>();
  let last: Image | undefined;
  for (const stage of stagesOf(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'))) {
    const path = join(folder, `stage-${built.size}`);
    rmSync(path, { recursive: true, force: true });
    execFileSync('cp', ['-a', base, path]);
    applyStage(stage, path, built);
    built.set(stage.alias ?? String(built.size), path);
    last = { path, stage };
  }
  if (!last) throw new Error('The Dockerfile has no stage.');
  return last;
}

function applyStage(stage: Stage, path: string, built: ReadonlyMap<string, string>): void {
  let folder = '/';
  for (const { name, text } of stage.instructions) {
    say(`${name} ${text}`);
    if (name === 'WORKDIR') {
      folder = text;
      mkdirSync(join(path, folder), { recursive: true });
    }
    if (name === 'RUN') inside(path, ['sh', '-ec', text], { folder, env: environmentOf(stage) });
    if (name === 'COPY') copyInto(path, folder, text, built);
  }
}

function copyInto(
  path: string,
  folder: string,
  text: string,
  built: ReadonlyMap<string, string>,
): void {
  const words = text.split(' ');
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop() ?? '';
  const goal = target.startsWith('/') ? join(path, target) : join(path, folder, target);
  for (const source of words) {
    if (from !== undefined) {
      execFileSync('cp', ['-a', join(built.get(from) ?? '', source), goal]);
    } else if (source === '.') {
      for (const file of contextFiles()) copyFile(join(root, file), join(goal, file));
    } else copyFile(join(root, source), join(goal, source));
  }
}

function copyFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/** What Docker would send: the files of the checkout without those of .dockerignore. */
function contextFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const dockerignore = readFileSync(join(root, '.dockerignore'), 'utf8');
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && !ignores(dockerignore, file) && existsSync(join(root, file)));
}

interface Inside {
  folder: string;
  env: Record<string, string>;
  user?: string;
}

function commandIn(
  path: string,
  words: readonly string[],
  { folder, env, user }: Inside,
): string[] {
  const pairs = Object.entries({ PATH: SEARCHED, HOME: '/tmp', ...network(), ...env });
  return [
    'unshare',
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    `--mount-proc=${join(path, 'proc')}`,
    'chroot',
    ...(user === undefined ? [] : [`--userspec=${user}:${user}`]),
    path,
    'env',
    '-i',
    ...pairs.map(([name, value]) => `${name}=${value}`),
    'sh',
    '-c',
    'cd "$0" && exec "$@"',
    folder,
    ...words,
  ];
}

/** What this machine needs for the network, it needs in there too. */
function network(): Record<string, string> {
  const names = /^(https?_proxy|no_proxy|node_extra_ca_certs|npm_config_registry)$/iu;
  const found = Object.entries(process.env).filter(([name]) => names.test(name));
  return Object.fromEntries(found) as Record<string, string>;
}

function inside(path: string, words: readonly string[], more: Inside): string {
  const [program = '', ...args] = commandIn(path, words, more);
  return execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 ** 2,
  });
}

/** Starts the image and does with it what an operator does first. */
async function use({ path, stage }: Image): Promise<void> {
  const env = environmentOf(stage);
  const at = { folder: lastOf(stage, 'WORKDIR'), env, user: lastOf(stage, 'USER') };
  const entry = wordsOf(lastOf(stage, 'ENTRYPOINT'));
  for (const tool of ['g++', 'make', 'python3']) {
    if (existsSync(join(path, 'usr/bin', tool))) throw new Error(`The image has ${tool}.`);
  }
  cpSync(join(root, 'deploy/config'), join(path, 'etc/tollgate'), { recursive: true });
  const tollgate = (...args: string[]): string => inside(path, [...entry, ...args], at);

  const [program = '', ...args] = commandIn(path, [...entry, ...wordsOf(lastOf(stage, 'CMD'))], at);
  const serving = spawn(program, args, { stdio: 'inherit' });
  const ended = once(serving, 'exit') as Promise<[number | null, string | null]>;
  try {
    await until(() => isHealthy(path, stage, at), 'the HEALTHCHECK passes', STARTED_MS);
    say('it is healthy');
    tollgate('account', 'create', 'ann', '--credit', '1');
    const { secret } = JSON.parse(tollgate('key', 'create', 'ann', '--name', 'k', '--json')) as {
      secret: string;
    };
    await call(secret);
    say(tollgate('backup', '/data/monday.db').trim());
    say(tollgate('verify').trim());
    const { uid, mode } = statSync(join(path, 'data/tollgate.db'));
    say(`the store belongs to user ${uid}, mode ${(mode & 0o777).toString(8)}`);
    process.kill(childOf(serving), 'SIGTERM');
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('SIGTERM did not end it.')), STOPPED_MS).unref();
    });
    const [status] = await Promise.race([ended, late]);
    if (status !== 0) throw new Error(`It ended with ${status} after SIGTERM.`);
    say('SIGTERM ended it with status 0');
  } finally {
    serving.kill('SIGKILL');
  }
}

function isHealthy(path: string, stage: Stage, at: Inside): boolean {
  try {
    inside(path, wordsOf(lastOf(stage, 'HEALTHCHECK')), at);
    return true;
  } catch {
    return false;
  }
}

async function call(secret: string): Promise<void> {
  const answer = await fetch('http://127.0.0.1:8080/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-chat', messages: [{ role: 'user', content: 'Hello!' }] }),
  });
  if (answer.status !== 200) throw new Error(`A call was answered ${answer.status}.`);
  await answer.text();
  say('a call was answered 200');
}

/** `unshare` passes no signal on: the first process of the namespace is its child. */
function childOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

await main();
