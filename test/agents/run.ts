import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Running } from '../helpers/cli.js';
import type { Agent, Place } from './agents.js';
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

/** Where an agent runs: a home and a project folder of its own, empty at first. */
export async function emptyPlace(gateway: Pick<Place, 'url' | 'key' | 'model'>): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-agent-')));
  const [home, project] = [join(root, 'home'), join(root, 'project')];
  await mkdir(home);
  await mkdir(project);
  return { ...gateway, root, home, project, file: join(project, 'hello.txt') };
}

/** Sets an agent up, gives it the prompt, and waits for its end; then its place is gone. */
export async function run(agent: Agent, place: Place): Promise<Run> {
  const installed = process.env['TOLLGATE_TEST_AGENTS'];
  if (installed === undefined) throw new Error('npm run test:agents installs the agents first.');
  const PATH = pathOf(installed, agent.package);
  const env = { PATH, HOME: place.home, TERM: 'dumb', NO_COLOR: '1', ...agent.env(place) };
  try {
    for (const [name, text] of Object.entries(agent.files?.(place) ?? {})) {
      const file = join(place.home, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    let outcome: Omit<Run, 'written'> = { status: null, stdout: '', stderr: '' };
    for (const words of agent.commands(place)) outcome = await ended(words, place.project, env);
    const written = await readFile(place.file, 'utf8').catch(() => undefined);
    return { ...outcome, written };
  } finally {
    await rm(place.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The end of a command and of what it started, which share a process group. */
async function ended(
  [command = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Omit<Run, 'written'>> {
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const end = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of the group have ended.
    }
  };
  const timer = setTimeout(end, RUN_MS);
  const outcome = await new Running(child).ended;
  clearTimeout(timer);
  end();
  return outcome;
}
