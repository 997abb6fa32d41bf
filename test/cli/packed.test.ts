import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Running } from '../helpers/cli.js';
import { documentAt } from '../helpers/documents.js';
import { pdfOf } from '../helpers/pdf-files.js';
import { startLocalServer } from '../helpers/local-server.js';
import type { FakeUpstream } from '../helpers/upstream.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
/**
 * With this the package is installed by npm, from the registry, with its native part: a minute. Else
 * it is unpacked, and the production dependencies of this checkout are linked beside it.
 */
const INSTALLS = process.env.TOLLGATE_TEST_INSTALL !== undefined;

interface Lock {
  packages: Record<string, { dev?: true }>;
}

describe('the package as npm packs it, in an empty folder', function () {
  this.timeout(600_000);
  let folder: string;
  let tarball: string;
  let ollama: FakeUpstream;
  let npm_place = '';
  const started: Running[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-packed-'));
    // `npm test` has built it.
    await run(root, `npm pack --ignore-scripts --pack-destination ${folder}`);
    [tarball = ''] = (await readdir(folder)).map((name) => join(folder, name));
    ollama = await startLocalServer([{ id: 'llama3.2:3b' }], 'From here.');
  });
  after(async () => {
    for (const { child, ended } of started) {
      // npx starts a process of its own: both end.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
      await ended;
    }
    await ollama.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts a command line as it is typed, in a shell without anything of this project. */
  function start(cwd: string, line: string): Running {
    const { PATH = '', HOME } = process.env;
    // As npx and the scripts of npm find a program, without the half second that npm itself takes.
    const path = `${join(cwd, 'node_modules/.bin')}:${PATH}`;
    const env = { PATH: path, HOME, npm_config_update_notifier: 'false' };
    const running = new Running(spawn('sh', ['-c', line], { cwd, env, detached: true }));
    started.push(running);
    return running;
  }

  async function run(cwd: string, line: string): Promise<string> {
    const { status, stdout, stderr } = await start(cwd, line).ended;
    expect(status, `${line}\n${stdout}${stderr}`).to.equal(0);
    return stdout;
  }

  /** A folder that holds nothing but what `npm install ./tollgate-0.1.0.tgz` would make. */
  async function installed(name: string): Promise<string> {
    const place = join(folder, name);
    await mkdir(place);
    if (INSTALLS) {
      // What npm has installed once is copied for the next.
      const copy = `cp -R ${join(dirname(place), npm_place)}/node_modules .`;
      const install = `npm install --no-audit --no-fund --prefer-offline ${tarball}`;
      await run(place, npm_place === '' ? install : copy);
      npm_place = name;
      return place;
    }
    const modules = join(place, 'node_modules');
    await mkdir(join(modules, '.bin'), { recursive: true });
    await run(modules, `tar -xzf ${tarball} && mv package tollgate`);
    for (const path of productionPackages()) {
      await mkdir(dirname(join(place, path)), { recursive: true });
      await symlink(join(root, path), join(place, path));
    }
    const { bin } = JSON.parse(readFileSync(join(modules, 'tollgate/package.json'), 'utf8')) as {
      bin: { tollgate: string };
    };
    await symlink(join('..', 'tollgate', bin.tollgate), join(modules, '.bin', 'tollgate'));
    return place;
  }

  function productionPackages(): string[] {
    const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as Lock;
    return Object.entries(packages)
      .filter(([path, { dev }]) => !dev && path.lastIndexOf('node_modules/') === 0)
      .map(([path]) => path)
      .filter((path) => existsSync(join(root, path)));
  }

  it('comes to the answer of a local server in four commands, the install included', async () => {
    const place = await installed('local'); // npm install
    const said = await run(place, `npx tollgate init --local ollama=${ollama.url}`);
    expect(said).to.include('llama3.2:3b').and.include('npx tollgate serve');
    const serving = start(place, 'npx tollgate serve --listen 127.0.0.1:0');
    await serving.url();
    const [, curl = ''] = /\n(  curl [\s\S]+?[^\\])\n\n/u.exec(serving.stdout) ?? [];
    const answer = await run(place, `${curl} --silent --show-error`);
    expect(JSON.parse(answer)).to.have.nested.property('choices[0].message.content', 'From here.');
    expect(serving.stdout).to.match(/\/sign-in\/link\?token=[\w-]{43}\n/u);
  });

  it('serves, checks and explains the simulator, and every page, without this checkout', async () => {
    const place = await installed('alone');
    await run(place, 'tollgate init --no-local');
    expect(await run(place, 'tollgate check --strict')).to.equal('gateway.yaml is valid.\n');
    expect(await run(place, 'tollgate explain sim-image')).to.include('per_image');
    const serving = start(place, 'tollgate serve --listen 127.0.0.1:0');
    const url = await serving.url();
    const [secret = ''] = /tg-[0-9A-Za-z]{20,}/u.exec(serving.stdout) ?? [];
    const ask = async (path: string, body: object): Promise<void> => {
      const asked = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(asked.status, await asked.text()).to.equal(200);
    };
    await ask('/v1/images/generations', { model: 'sim-image', prompt: 'A gate' });
    const file_data = `data:application/pdf;base64,${pdfOf(3).toString('base64')}`;
    const content = [{ type: 'file', file: { filename: 'three.pdf', file_data } }];
    await ask('/v1/chat/completions', { model: 'sim-chat', messages: [{ role: 'user', content }] });
    // The process that reads the PDF stays for half a minute, or ends at once if it lacks a file.
    const reader = join(place, 'node_modules/tollgate/dist/src/lib/media-process.js');
    expect(await run(place, 'ps -eo args')).to.include(reader);
    for (const path of ['/sign-in', '/openapi.json', '/docs', '/readyz']) {
      expect((await fetch(`${url}${path}`)).status, path).to.equal(200);
    }
    const page = await (await fetch(`${url}/sign-in`)).text();
    const assets = [...page.matchAll(/(?:href|src)="(\/[^"]+\.(?:css|js|svg|woff2))"/gu)];
    expect(assets).not.to.have.length(0);
    for (const [, path = ''] of assets) {
      expect((await fetch(`${url}${path}`)).status, path).to.equal(200);
    }
  });

  it('has the types with which a stage in TypeScript compiles and is loaded', async () => {
    const place = await installed('plugin');
    const [block] = documentAt('docs/stages.md').blocks.filter(({ language }) => language === 'ts');
    await writeFile(join(place, 'max-messages.ts'), block?.text ?? '');
    await writeFile(join(place, 'package.json'), '{ "type": "module" }');
    const options = '--strict --exactOptionalPropertyTypes --module nodenext --target es2023';
    await run(place, `${root}node_modules/.bin/tsc ${options} --types '' max-messages.ts`);
    await writeFile(
      join(place, 'gateway.yaml'),
      `owners: { us: { name: Us } }
providers: { simulator: {} }
models:
  sim: { owner: us, capabilities: [chat], price: free, upstreams: [{ provider: simulator, model: sim }] }
endpoints:
  chat: { after: { validate: [{ ./max-messages.js: 50 }] } }
`,
    );
    expect(await run(place, 'tollgate check')).to.equal('gateway.yaml is valid.\n');
    const yaml = await readFile(join(place, 'gateway.yaml'), 'utf8');
    await writeFile(join(place, 'gateway.yaml'), yaml.replace('50', 'many'));
    const { status, stdout } = await start(place, 'tollgate check').ended;
    expect(status).to.equal(1);
    expect(stdout).to.include('its option is a number of messages');
  });

  it('says in one sentence what to do where the Node has not its own driver of SQLite', async () => {
    const place = await installed('driverless');
    const modules = join(place, 'node_modules');
    await rm(join(modules, 'better-sqlite3-node-20'), { recursive: true, force: true });
    await rm(join(modules, 'better-sqlite3'), { recursive: true, force: true });
    await run(place, 'tollgate init --no-local');
    const { status, stderr } = await start(place, 'tollgate account create ann').ended;
    expect(stderr).to.match(
      /^tollgate: better-sqlite3 1[23], which SQLite needs on Node \d\d, is not installed: run "npm ci" [^\n]+\n$/u,
    );
    expect(status).to.equal(1);

    // The version of another Node ends the process, so it is never loaded.
    const other = process.versions.node.startsWith('20.') ? '13.2.0' : '12.11.1';
    await mkdir(join(modules, 'better-sqlite3'));
    await writeFile(join(modules, 'better-sqlite3', 'index.js'), 'process.abort();');
    const manifest = JSON.stringify({ name: 'better-sqlite3', version: other });
    await writeFile(join(modules, 'better-sqlite3', 'package.json'), manifest);
    const again = await start(place, 'tollgate account create ann').ended;
    expect([again.status, again.stderr]).to.deep.equal([1, stderr]);
  });

  it('holds what the README and a deployment need', async () => {
    const listed = (await run(folder, `tar -tzf ${tarball}`)).split('\n');
    const wanted = ['README.md', 'LICENSE', 'CHANGELOG.md', 'gateway.yaml'];
    const folders = ['docs', 'deploy'].filter((name) => existsSync(join(root, name)));
    for (const name of wanted) expect(listed).to.include(`package/${name}`);
    for (const name of folders) {
      expect(
        listed.some((path) => path.startsWith(`package/${name}/`)),
        name,
      ).to.equal(true);
    }
    expect(listed.filter((path) => /^package\/(test|\.ci|data)\//u.test(path))).to.deep.equal([]);
  });
});
