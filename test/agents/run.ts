import { spawn, type SpawnOptions } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CODING_AGENTS } from '../../src/dashboard/coding-agents.js';
import { Running } from '../helpers/cli.js';
import { runCommand } from '../helpers/run-command.js';
import { scriptOf, type Agent, type TaskFiles } from './agents.js';
import { pathOf } from './install.js';

const RUN_MS = 600_000;

/** What an agent did with its prompt. */
export interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
  /** The content of each file that it shall write. */
  written: (string | undefined)[];
}

/** Where an agent runs: a home and a project folder of its own. */
export interface Place {
  root: string;
  home: string;
  project: string;
  files: TaskFiles;
}

/**
 * How an agent is set up: by the lines of `tollgate connect`, or by its files, with the key in them
 * or in a variable.
 */
export const WAYS = ['lines', 'files', 'files, key in a variable'] as const;
export type Way = (typeof WAYS)[number];

export async function emptyPlace(): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-agent-')));
  const [home, project] = [join(root, 'home'), join(root, 'project')];
  await mkdir(home);
  await mkdir(project);
  const files = { hello: join(project, 'hello.txt'), done: join(project, 'done.txt') };
  return { root, home, project, files };
}

/** Sets an agent up, gives it the prompt, and waits for its end; then its place is gone. */
export async function run(
  agent: Agent,
  { root, home, project, files }: Place,
  gateway: { url: string; config: string; secret: string; way: Way },
): Promise<Run> {
  const PATH = pathOf(installedRoot(), agent.package);
  const env = {
    PATH,
    HOME: home,
    TMPDIR: root,
    TERM: 'dumb',
    NO_COLOR: '1',
    TOLLGATE_API_KEY: gateway.secret,
    ...agent.env,
  };
  try {
    for (const [name, text] of Object.entries(agent.files ?? {})) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), text);
    }
    const outcome = await ended(
      scriptOf(agent, await linesFor(agent, home, gateway)),
      project,
      env,
    );
    const written = agent.writes.map((name) =>
      readFile(files[name], 'utf8').catch(() => undefined),
    );
    return { ...outcome, written: await Promise.all(written) };
  } finally {
    await endAllOf(home);
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Where the agents are installed. */
export function installedRoot(): string {
  const root = process.env.TOLLGATE_TEST_AGENTS;
  if (root === undefined) throw new Error('npm run test:agents installs the agents first.');
  return root;
}

/** The way in which an agent is set up where this one is asked for. */
export function wayOf(agent: Agent, way: Way): string {
  if (agent.lines) return 'lines of its own';
  return canWrite(agent) ? way : 'lines';
}

function canWrite({ id }: Agent): boolean {
  return CODING_AGENTS.some((each) => each.id === id && each.files !== undefined);
}

/** What `tollgate connect` says to type; with a way of files it has written these. */
async function linesFor(
  agent: Agent,
  HOME: string,
  { url, config, secret, way }: { url: string; config: string; secret: string; way: Way },
): Promise<string[]> {
  const { id, model } = agent;
  if (agent.lines) return agent.lines({ url, model });
  const isWritten = way !== 'lines' && canWrite(agent);
  const key = way === 'files, key in a variable' ? [] : ['--key', secret];
  const args = [
    id,
    '--config',
    config,
    '--model',
    model,
    ...key,
    ...(isWritten ? ['--write'] : []),
  ];
  const { stdout, stderr, status } = await runCommand(['connect', ...args, '--json'], {
    env: { HOME },
  });
  if (status !== 0) throw new Error(stderr);
  const { lines } = JSON.parse(stdout) as { lines: string[] };
  // The variable is set already.
  return lines.filter((line) => line !== 'export TOLLGATE_API_KEY=tg-…');
}

/** Ends what an agent left running apart from it, such as the hub of Cline: by its home folder. */
async function endAllOf(home: string): Promise<void> {
  for (const name of await readdir('/proc').catch(() => [])) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(`HOME=${home}`)) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** The end of a shell script and of what it started, which share a process group. */
async function ended(
  script: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Omit<Run, 'written'>> {
  const options: SpawnOptions = { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true };
  const child = spawn('sh', ['-ec', script], options);
  const end = (): void => {
    if (child.pid !== undefined) kill(-child.pid);
  };
  const timer = setTimeout(end, RUN_MS);
  const outcome = await new Running(child).ended;
  clearTimeout(timer);
  end();
  return outcome;
}

/** All that an agent printed, for the message of a failed check. */
export function said({ stdout, stderr }: Run): string {
  return `${stdout}\n${stderr}`;
}
