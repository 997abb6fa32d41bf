import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOfStream } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { Running } from './cli.js';
import { CommandHere, runCommand } from './run-command.js';
import { freePort } from './free-port.js';
import { ROOT, type Block, type DocumentPage } from './documents.js';
import { mergeYaml } from './merge-yaml.js';

const ADDRESS = '127.0.0.1:8080';
const LINKED = ['dist', 'docs', 'node_modules', 'providers', 'schemas', 'src'];
/** A command that npm would look up for a second each. */
const NPX = '#!/bin/sh\n[ "$1" = tollgate ] || exit 9\nshift\n';
const NPX_OF_ITS_OWN = `${NPX}exec node dist/src/cli/main.js "$@"\n`;
/** Has the process of the tests run it. */
const NPX_HERE = `${NPX}
status=$({ printf '%s\\0' $# "$@"; env -0; } | curl --data-binary @- "http://$(cat home/runs)")
cat home/stdout
cat home/stderr >&2
exit "$status"
`;

/** Whether the page has commands to run. */
export function withShellBlocks({ blocks }: DocumentPage): boolean {
  return blocks.some(({ language, info }) => language === 'sh' && !info.startsWith('no-test'));
}

/** The commands of a page that start its gateway. */
export function startsOfPage({ blocks }: DocumentPage): string[] {
  return blocks.filter(isStart).map(({ text }) => text);
}

function isStart({ language, info }: Block): boolean {
  return language === 'sh' && info === 'background';
}

/**
 * Runs the blocks of a page in their order, in a copy of a checkout with a gateway that serves on a
 * free port: the `sh` blocks, and the `js` blocks that use a client. A `yaml` block that names
 * gateway.yaml is merged into that file. The gateway and the commands are in this process, which
 * takes a second less for each, but where the command that starts it is to be run too. Throws with
 * what a command said if it fails.
 */
export async function runPage(
  { blocks }: DocumentPage,
  { runsStart }: { runsStart: boolean },
): Promise<void> {
  const place = await Checkout.make();
  try {
    if (!runsStart) await place.serveHere();
    for (const block of blocks.filter((one) => runsStart || !isStart(one))) await place.run(block);
  } finally {
    await place.close();
  }
}

/** A copy of a checkout. Its gateway.yaml serves on a port of its own. */
class Checkout {
  #serving: Running | CommandHere | undefined;
  #runs: Server | undefined;
  #key = '';

  private constructor(
    private readonly folder: string,
    private readonly address: string,
  ) {}

  static async make(): Promise<Checkout> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-page-'));
    const place = new Checkout(folder, `127.0.0.1:${await freePort()}`);
    for (const name of LINKED) await symlink(ROOT + name, join(folder, name));
    await cp(`${ROOT}package.json`, join(folder, 'package.json'));
    const text = await readFile(`${ROOT}gateway.yaml`, 'utf8');
    await writeFile(join(folder, 'gateway.yaml'), place.#filled(text));
    const home = join(folder, 'home');
    await mkdir(home);
    await place.#writeNpx(NPX_OF_ITS_OWN);
    await writeFile(join(home, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
    await writeFile(join(home, 'variables'), '');
    return place;
  }

  async run(block: Block): Promise<void> {
    const { language, info, text } = block;
    // The packages are there already.
    if (isStart(block)) await this.serve(text.replace(/^npm ci && /u, ''));
    else if (language === 'sh' && info === '') await this.#shell(this.#filled(text));
    else if (language === 'yaml' && info === 'gateway.yaml') await this.#merge(text);
    else if (language === 'js' && text.includes("from 'openai'")) {
      await writeFile(join(this.folder, 'client.mjs'), this.#filled(text));
      await this.#shell('node client.mjs');
    }
  }

  /** Starts the command that serves, and learns the key that it prints. */
  async serve(command: string): Promise<void> {
    const { folder } = this;
    const child = spawn('sh', ['-c', command], { cwd: folder, env: this.#env(), detached: true });
    await this.#served(new Running(child));
  }

  /** Serves in this process, and runs the commands in it. */
  async serveHere(): Promise<void> {
    const { folder } = this;
    this.#runs = createServer((request, response) => {
      void textOfStream(request)
        .then((text) => this.#runHere(text.split('\0').slice(0, -1)))
        .then((status) => response.end(`${status}`));
    }).listen(0, '127.0.0.1');
    await once(this.#runs, 'listening');
    const { port } = this.#runs.address() as AddressInfo;
    await writeFile(join(folder, 'home/runs'), `127.0.0.1:${port}`);
    await this.#writeNpx(NPX_HERE);
    const args = ['serve', '--config', join(folder, 'gateway.yaml')];
    await this.#served(new CommandHere(args, { folder, env: this.#env() }, { stays: true }));
  }

  async close(): Promise<void> {
    const serving = this.#serving;
    if (serving instanceof CommandHere) await serving.stop();
    else if (serving?.child.pid !== undefined) process.kill(-serving.child.pid, 'SIGTERM');
    await serving?.ended;
    this.#runs?.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #served(serving: Running | CommandHere): Promise<void> {
    this.#serving = serving;
    await serving.url();
    this.#key = /^ {2}(tg-\S+)$/mu.exec(serving.stdout)?.[1] ?? '';
  }

  async #writeNpx(script: string): Promise<void> {
    const file = join(this.folder, 'home/npx');
    await writeFile(file, script);
    await chmod(file, 0o755);
  }

  /** Runs a command of so many arguments, behind which the variables of its shell are. */
  async #runHere([count, ...words]: readonly string[]): Promise<number | null> {
    const args = words.splice(0, Number(count));
    const env = Object.fromEntries(words.map((one) => one.split(/=(.*)/su)));
    const { folder } = this;
    const { status, stdout, stderr } = await runCommand(args, { folder, env });
    await writeFile(join(folder, 'home/stdout'), stdout);
    await writeFile(join(folder, 'home/stderr'), stderr);
    return status;
  }

  async #shell(text: string): Promise<void> {
    const kept = join(this.folder, 'home/variables');
    const script = `. ${kept}\nset -e\n${text}\nexport -p > ${kept}\n`;
    try {
      await promisify(execFile)('sh', ['-c', script], { cwd: this.folder, env: this.#env() });
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`This failed:\n${text}\n${stdout}${stderr}`, { cause: error });
    }
  }

  async #merge(text: string): Promise<void> {
    const file = join(this.folder, 'gateway.yaml');
    const whole = parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, stringify(mergeYaml(whole, parse(this.#filled(text)) as object)));
  }

  #filled(text: string): string {
    return text
      .replaceAll(ADDRESS, this.address)
      .replaceAll('sk-ant-…', 'sk-ant-test')
      .replaceAll('tg-…', this.#key);
  }

  #env(): NodeJS.ProcessEnv {
    const home = join(this.folder, 'home');
    return { PATH: `${home}:${process.env.PATH ?? ''}`, HOME: home };
  }
}
