import { spawn, type SpawnOptions } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Running } from '../helpers/cli.js';
import { scriptOf, type Agent } from './agents.js';
import { pathOf } from './install.js';

const RUN_MS = 120_000;

/** What an agent did with its prompt. */
export interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
  /** The content of the file that the tool call writes. */
  written: string | undefined;
}

/** Where an agent runs: a home and a project folder of its own. */
export interface Place {
  root: string;
  home: string;
  project: string;
  /** The file that the agent shall write, in its project. */
  file: string;
}

export async function emptyPlace(): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-agent-')));
  const [home, project] = [join(root, 'home'), join(root, 'project')];
  await mkdir(home);
  await mkdir(project);
  return { root, home, project, file: join(project, 'hello.txt') };
}

/** Sets an agent up, gives it the prompt, and waits for its end; then its place is gone. */
export async function run(
  agent: Agent,
  { root, home, project, file }: Place,
  gateway: { url: string; secret: string },
): Promise<Run> {
  const installed = process.env.TOLLGATE_TEST_AGENTS;
  if (installed === undefined) throw new Error('npm run test:agents installs the agents first.');
  const PATH = pathOf(installed, agent.package);
  const env = { PATH, HOME: home, TMPDIR: root, TERM: 'dumb', NO_COLOR: '1', ...agent.env };
  try {
    for (const [name, text] of Object.entries(agent.files ?? {})) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), text);
    }
    const outcome = await ended(scriptOf(agent, gateway), project, env);
    return { ...outcome, written: await readFile(file, 'utf8').catch(() => undefined) };
  } finally {
    await endAllOf(home);
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
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
