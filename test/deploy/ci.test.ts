import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { SIMULATED } from '../helpers/cli.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(ROOT, 'dist/src/cli/main.js');
/** As npx does, without the half second that npm takes. */
const NPX = '#!/bin/sh\n[ "$1" = --no ] || exit 9\nshift\nexec "node_modules/.bin/$@"\n';
/** A secret that no job has. */
const UP = "{ simulator: {}, up: { uses: openai, api_key: '${OPENAI_API_KEY}' } }";
const SECRET = SIMULATED.replace('{ simulator: {} }', UP).replace(
  '[{ provider: simulator }]',
  '[{ provider: up, model: a-model-of-ours }, { provider: simulator, price: free }]',
);

interface GitHub {
  jobs: Record<string, { steps: { run?: string }[] }>;
}
type GitLab = Record<string, { script?: string[] }>;

const read = <T>(name: string): T =>
  parse(readFileSync(join(ROOT, 'deploy/ci', name), 'utf8')) as T;
const github = read<GitHub>('github.yaml');
const gitlab = read<GitLab>('gitlab.yaml');

/** What a job runs after it has installed the packages, which the test has done. */
const LINES = {
  github: (job: string) =>
    (github.jobs[job]?.steps ?? []).flatMap(({ run }) => (run === undefined ? [] : [run])).slice(1),
  gitlab: (job: string) => gitlab[`tollgate-${job}`]?.script ?? [],
};

for (const host of ['github', 'gitlab'] as const) {
  describe(`deploy/ci/${host}.yaml`, () => {
    let folder: string;
    let work: string;

    const git = (at: string, ...args: string[]): void => {
      const who = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'];
      execFileSync('git', ['-C', at, ...who, ...args], { stdio: 'pipe' });
    };

    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'tollgate-ci-'));
      const origin = join(folder, 'origin');
      work = join(folder, 'work');
      mkdirSync(origin);
      git(origin, 'init', '--quiet', '--initial-branch=main');
      writeFileSync(join(origin, 'gateway.yaml'), SECRET);
      writeFileSync(join(origin, 'package.json'), '{ "private": true }');
      writeFileSync(join(origin, '.gitignore'), 'node_modules/\n');
      git(origin, 'add', '.');
      git(origin, 'commit', '--quiet', '--message=first');
      git(folder, 'clone', '--quiet', origin, work);
      mkdirSync(join(work, 'node_modules/.bin'), { recursive: true });
      symlinkSync(MAIN, join(work, 'node_modules/.bin/tollgate'));
      mkdirSync(join(folder, 'bin'));
      writeFileSync(join(folder, 'bin/npx'), NPX, { mode: 0o755 });
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    /** As the runner does it: bash that ends at the first failure, without any secret. */
    function runJob(
      job: string,
      programs = join(folder, 'bin'),
    ): { status: number | null; stdout: string; stderr: string } {
      const lines = LINES[host](job);
      expect(lines).not.to.deep.equal([]);
      const { status, stdout, stderr } = spawnSync(
        'bash',
        ['--noprofile', '--norc', '-eo', 'pipefail', '-c', lines.join('\n')],
        {
          cwd: work,
          encoding: 'utf8',
          env: {
            PATH: `${programs}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
            HOME: folder,
            npm_config_update_notifier: 'false',
            GITHUB_BASE_REF: 'main',
            GITHUB_STEP_SUMMARY: join(folder, 'summary'),
            CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
          },
        },
      );
      return { status, stdout, stderr };
    }

    const edit = (text: string): void => writeFileSync(join(work, 'gateway.yaml'), text);
    const report = (stdout: string): string =>
      host === 'github' ? stdout : readFileSync(join(work, 'tollgate-check.xml'), 'utf8');

    it('accepts a valid configuration without its secrets', () => {
      edit(SECRET);
      // By the npx of npm itself.
      const { status, stdout, stderr } = runJob('check', folder);
      expect(status, stdout + stderr).to.equal(0);
      expect(report(stdout)).not.to.match(/::error|<failure/u);
    });

    it('fails with the place of a fault, in the form that the host shows', () => {
      edit(SECRET.replace('capabilities: [chat]', 'capabilites: [chat]'));
      const { status, stdout } = runJob('check');
      expect(status).to.equal(1);
      expect(report(stdout)).to.match(
        host === 'github'
          ? /^::error file=gateway\.yaml,line=\d+,col=\d+.*capabilites/mu
          : /<failure[\s\S]*capabilites/u,
      );
    });

    it('shows what clients lose against the base, again and again', () => {
      edit(SECRET);
      const same = runJob('diff');
      expect(same.stdout, same.stderr).to.include('Nothing changes for clients.');
      expect(same.status).to.equal(0);
      // A runner that keeps its checkout removes files, not what git knows of them.
      rmSync(join(work, '.base'), { recursive: true });
      edit(SECRET.replace('  sim: {', '  sim-2: {'));
      const { status, stdout } = runJob('diff');
      expect(stdout).to.include('- model sim is gone');
      expect(status).to.equal(1);
    });
  });
}
