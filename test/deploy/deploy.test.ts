import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { check } from '../../src/gateway/check.js';
import type { Configuration } from '../../src/core/configuration.js';
import { makePlace, SIMULATED } from '../helpers/cli.js';
import { ignores, lastOf, stagesOf, wordsOf } from './helpers/dockerfile.js';
import { isInstalled, run } from './helpers/web-proxy.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  image?: string;
  build?: { context: string; dockerfile: string };
  ports?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  entrypoint?: string[];
  depends_on?: string[] | Record<string, { condition: string }>;
  stop_grace_period?: string;
  healthcheck?: object;
}
interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, null>;
}

const compose = (name: string): Compose =>
  parse(read(`deploy/${name}`), { merge: true }) as Compose;
const stages = stagesOf(read('deploy/Dockerfile'));
const image = stages.at(-1) ?? { image: '', alias: undefined, instructions: [] };
const PORT = Number(lastOf(image, 'EXPOSE'));

/** The configuration of the containers, with the variables that a service gets. */
async function configured(env: NodeJS.ProcessEnv): Promise<Configuration> {
  const { faults, configuration } = await check(join(ROOT, 'deploy/config/gateway.yaml'), env);
  if (!configuration) throw new Error(JSON.stringify(faults));
  return configuration;
}

/** As Compose expands `${NAME}`, `${NAME:-default}` and `${NAME:?what is missing}`. */
function expand(text: string, env: Record<string, string>): string {
  return text.replaceAll(
    /\$\{(\w+)(?::[-?]([^}]*))?\}/gu,
    (_, name: string, fallback?: string) => env[name] ?? fallback ?? '',
  );
}

function seconds(text: string | undefined): number {
  return Number(/^(\d+)s?$/u.exec(text ?? '')?.[1]);
}

describe('deploy/Dockerfile', () => {
  it('installs no compiler, and is no root in the last stage', () => {
    expect(stages.map(({ image: name }) => name)).to.deep.equal(['node:24-slim', 'node:24-slim']);
    const installing = stages.map(({ instructions }) =>
      instructions.some(({ text }) => text.includes('apt-get install')),
    );
    expect(installing).to.deep.equal([false, false]);
    expect(lastOf(image, 'USER')).to.equal('node');
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(engines.node).to.equal('>=20.19.0');
  });

  it('starts the program itself, so that it gets the signals', () => {
    const { bin } = JSON.parse(read('package.json')) as { bin: { tollgate: string } };
    expect(wordsOf(lastOf(image, 'ENTRYPOINT'))).to.deep.equal(['tollgate']);
    expect(wordsOf(lastOf(image, 'CMD'))).to.deep.equal(['serve']);
    const linked = image.instructions.some(({ text }) =>
      text.includes(`ln -s /app/${bin.tollgate} /usr/local/bin/tollgate`),
    );
    expect(linked).to.equal(true);
  });

  it('asks a gateway for its health, and fails where there is none', async () => {
    const place = await makePlace(SIMULATED);
    const url = await place.begin('serve').url();
    const [node, ...args] = wordsOf(lastOf(image, 'HEALTHCHECK'));
    expect(node).to.equal('node');
    const ask = async (): Promise<unknown> => {
      const script = args.map((arg) => arg.replace(`http://127.0.0.1:${PORT}`, url));
      const [status] = await once(spawn(process.execPath, script), 'exit');
      return status as unknown;
    };
    expect(await ask()).to.equal(0);
    await place.close();
    expect(await ask()).to.equal(1);
  });

  it('is sent what the build needs, and neither secrets nor stores', () => {
    const dockerignore = read('.dockerignore');
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    const needed = files.filter((name) => name !== 'dist').map((name) => name.split('/*')[0] ?? '');
    const { build = '' } = (JSON.parse(read('package.json')) as { scripts: { build?: string } })
      .scripts;
    const scripts = build.match(/\.ci\/[\w-]+\.ts/gu) ?? [];
    expect(scripts).not.to.deep.equal([]);
    needed.push(...scripts, 'src/cli/main.ts', 'tsconfig.json', 'package-lock.json', '.npmrc');
    for (const path of needed) {
      expect(existsSync(join(ROOT, path)), path).to.equal(true);
      expect(ignores(dockerignore, path), path).to.equal(false);
    }
    for (const path of [
      '.env',
      'deploy/.env',
      'src/.env.local',
      'data/tollgate.db',
      '.git/config',
    ]) {
      expect(ignores(dockerignore, path), path).to.equal(true);
    }
  });
});

describe('deploy/compose.yaml', () => {
  const { services, volumes } = compose('compose.yaml');

  it('keeps store and journal on a volume, and publishes the port on loopback', async () => {
    const { gateway } = services;
    expect(gateway?.ports).to.deep.equal([`127.0.0.1:${PORT}:${PORT}`]);
    expect(gateway?.volumes).to.deep.equal([
      `./config:${lastOf(image, 'WORKDIR')}:ro`,
      `data:${lastOf(image, 'VOLUME')}`,
    ]);
    expect(Object.keys(volumes)).to.deep.equal(['data']);
    const { listen, store, journal, public_url } = await configured({});
    expect(listen).to.deep.include({ host: '0.0.0.0', port: PORT });
    expect(store.url).to.equal('sqlite:/data/tollgate.db');
    expect(journal).to.equal('/data/journal');
    expect(public_url).to.equal(`http://127.0.0.1:${PORT}`);
  });

  it('is built from the checkout', () => {
    const { build } = services.gateway ?? {};
    expect(build).to.deep.equal({ context: '..', dockerfile: 'deploy/Dockerfile' });
  });
});

describe('deploy/compose.postgres.yaml', () => {
  const { services, volumes } = compose('compose.postgres.yaml');
  const env = { TOLLGATE_DOMAIN: 'ai.example.com', POSTGRES_PASSWORD: 'c0ffee' };
  const gateways = Object.keys(services).filter((name) => name.startsWith('gateway-'));

  it('runs two gateways on one PostgreSQL, each with a journal of its own', async () => {
    expect(gateways).to.have.length(2);
    for (const name of gateways) {
      const { environment = {}, depends_on } = services[name] ?? {};
      const given = Object.entries(environment).map(([key, text]) => [key, expand(text, env)]);
      const { store, public_url } = await configured(
        Object.fromEntries(given) as Record<string, string>,
      );
      const hosts = 'postgres,standby/tollgate?target_session_attrs=read-write';
      expect(store.url).to.equal(`postgres://tollgate:c0ffee@${hosts}`);
      expect(public_url).to.equal('https://ai.example.com');
      expect(depends_on).to.deep.equal({ postgres: { condition: 'service_healthy' } });
    }
    const { environment = {}, healthcheck } = services.postgres ?? {};
    expect(environment).to.include({ POSTGRES_USER: 'tollgate', POSTGRES_DB: 'tollgate' });
    expect(healthcheck).to.be.an('object');
    const journals = gateways.map((name) => services[name]?.volumes?.[1]?.split(':')[0]);
    expect(new Set(journals).size).to.equal(2);
    expect(Object.keys(volumes)).to.include.members(journals);
  });

  it('has a standby, which follows the primary by the scripts that each of them mounts', () => {
    const { postgres, standby } = services;
    expect(standby?.image).to.equal(postgres?.image);
    expect(standby?.environment).to.include({
      PRIMARY_HOST: 'postgres',
      PRIMARY_USER: postgres?.environment?.POSTGRES_USER,
      PGPASSWORD: postgres?.environment?.POSTGRES_PASSWORD,
    });
    expect(standby?.entrypoint).to.deep.equal(['bash', '/standby.sh']);
    for (const service of [postgres, standby]) {
      const [data = '', script = ''] = service?.volumes ?? [];
      expect(Object.keys(volumes)).to.include(data.split(':')[0]);
      expect(existsSync(join(ROOT, 'deploy', script.split(':')[0] ?? '')), script).to.equal(true);
    }
  });

  it('publishes Caddy alone, which knows the gateways by their names', () => {
    const open = Object.keys(services).filter((name) => services[name]?.ports !== undefined);
    expect(open).to.deep.equal(['caddy']);
    const upstreams = services.caddy?.environment?.TOLLGATE_UPSTREAMS?.split(' ');
    expect(upstreams).to.deep.equal(gateways.map((name) => `${name}:${PORT}`));
    for (const name of Object.keys(services.caddy?.environment ?? {})) {
      expect(read('deploy/Caddyfile')).to.include(`{$${name}:`);
    }
  });
});

describe('the time that a gateway gets to stop', () => {
  it('is longer than its drain, in Compose and in systemd', async () => {
    const { drain_ms } = await configured({});
    const periods = ['compose.yaml', 'compose.postgres.yaml'].flatMap((name) =>
      Object.entries(compose(name).services)
        .filter(([service]) => service.startsWith('gateway'))
        .map(([, { stop_grace_period }]) => seconds(stop_grace_period)),
    );
    const [, timeout] = /^TimeoutStopSec=(.+)$/mu.exec(read('deploy/tollgate.service')) ?? [];
    expect(periods).to.have.length(3);
    for (const period of [...periods, seconds(timeout)]) {
      expect(period * 1_000).to.be.greaterThan(drain_ms + 5_000);
    }
  });
});

describe('deploy/tollgate.service', () => {
  const unit = read('deploy/tollgate.service');

  it('starts a program and a command that there are', () => {
    const [, words = ''] = /^ExecStart=(.+)$/mu.exec(unit) ?? [];
    const [env, node, flag, main = '', command, option, file] = words.split(' ');
    expect([env, node, flag]).to.deep.equal(['/usr/bin/env', 'node', '--enable-source-maps']);
    expect(existsSync(join(ROOT, main.replace('/opt/tollgate/', '')))).to.equal(true);
    expect([command, option, file]).to.deep.equal([
      'serve',
      '--config',
      '/etc/tollgate/gateway.yaml',
    ]);
  });

  it('needs no program that a small Debian lacks', () => {
    const programs = [...unit.matchAll(/^Exec\w+=(\S+)/gmu)].map(([, program]) => program);
    expect(programs).to.deep.equal(['/usr/bin/env', '/bin/sh']);
  });

  it('is valid to systemd, and gives the service little', function () {
    if (!isInstalled('systemd-analyze')) this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-unit-'));
    const file = join(folder, 'tollgate.service');
    copyFileSync(join(ROOT, 'deploy/tollgate.service'), file);
    const verified = run('systemd-analyze', ['verify', '--man=no', file]);
    const args = ['security', '--offline=true', '--no-pager', file];
    const { output } = run('systemd-analyze', args);
    rmSync(folder, { recursive: true });
    expect(verified.status, verified.output).to.equal(0);
    expect(verified.output).not.to.include('tollgate.service:');
    const [, exposure] = /exposure level for \S+: (\d+\.\d)/u.exec(output) ?? [];
    expect(Number(exposure), output).to.be.at.most(2);
  });
});

describe('deploy/tollgate@.service.d', () => {
  it('makes of tollgate.service one gateway a port, each with a folder of its own', function () {
    if (!isInstalled('systemd-analyze')) this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-units-'));
    const name = 'tollgate@8081.service';
    copyFileSync(join(ROOT, 'deploy/tollgate.service'), join(folder, 'tollgate@.service'));
    cpSync(join(ROOT, 'deploy/tollgate@.service.d'), join(folder, 'tollgate@.service.d'), {
      recursive: true,
    });
    const env = { SYSTEMD_UNIT_PATH: `${folder}:` };
    const verified = run('systemd-analyze', ['verify', '--man=no', name], env);
    rmSync(folder, { recursive: true });
    expect(verified.status, verified.output).to.equal(0);
    expect(verified.output).not.to.include('tollgate@');
  });

  it('sets the variable and the folder that its first lines name', async () => {
    const conf = read('deploy/tollgate@.service.d/port.conf');
    const lines = ['listen', 'drain_delay', 'journal'].map(
      (key) => new RegExp(`${key}: (?:'([^']+)'|(\\w+))`, 'u').exec(conf) ?? [],
    );
    const [listen, delay, journal] = lines.map(([, quoted, plain]) => quoted ?? plain);
    expect(listen).to.equal('127.0.0.1:${TOLLGATE_PORT}');
    expect(conf).to.include('\nEnvironment=TOLLGATE_PORT=%i\n');
    expect(delay).to.equal('5s');
    const state = /^StateDirectory=(.+)$/mu.exec(conf)?.[1]?.replace('%i', '${TOLLGATE_PORT}');
    expect(journal).to.equal(`/var/lib/${state}/journal`);
  });
});

describe('.github/workflows/image.yaml', () => {
  it('publishes what it tried: for two kinds of processors, with SBOM and provenance', () => {
    interface Job {
      needs?: string;
      steps: { uses?: string; run?: string; with?: Record<string, unknown> }[];
    }
    const { jobs } = parse(read('.github/workflows/image.yaml')) as {
      jobs: Record<'try' | 'publish', Job>;
    };
    const built = (job: Job): Record<string, unknown>[] =>
      job.steps
        .filter(({ uses }) => uses?.startsWith('docker/build-push-action@'))
        .map((step) => step.with ?? {});
    expect(jobs.publish.needs).to.equal('try');
    expect(built(jobs.publish)).to.have.length(1);
    expect(built(jobs.publish)[0]).to.include({
      file: 'deploy/Dockerfile',
      platforms: 'linux/amd64,linux/arm64',
      sbom: true,
      provenance: 'mode=max',
    });
    expect(built(jobs.try)[0]).to.include({ file: 'deploy/Dockerfile', load: true });
    const script = jobs.try.steps.map((step) => step.run ?? '').join('');
    expect(spawnSync('bash', ['-n'], { input: script }).status).to.equal(0);
    expect(script).to.include('--read-only').and.to.include('--cap-drop ALL');
  });
});
