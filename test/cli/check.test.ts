import { expect } from 'chai';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import type { Outcome } from '../helpers/run-command.js';

const BROKEN = SIMULATED.replace('owner: me', 'owner: you').replace('capabilities', 'capabilites');
const DOUBTFUL = `limits: { body: 1kb }\n${SIMULATED}`;
const SECRET = 'sk-very-secret-value';

interface Document {
  faults: Record<string, string | number>[];
}

interface SarifResult {
  ruleId: string;
  level: string;
  locations: {
    physicalLocation: { artifactLocation: { uri: string }; region: { startLine: number } };
  }[];
}

/** These modules, and all that they import with them. */
function importedBy(files: readonly string[]): string[] {
  const all = new Set(files);
  for (const file of all) {
    const imports = readFileSync(file, 'utf8').matchAll(/^(?:\} from|import) "(\.[^"]+)";/gm);
    for (const [, path = ''] of imports) all.add(join(dirname(file), path));
  }
  return [...all];
}

describe('tollgate check', () => {
  let place: Place;

  const check = async (yaml: string, ...args: string[]): Promise<Outcome> => {
    await place.write(yaml);
    return place.tollgate('check', ...args);
  };

  beforeEach(async () => {
    place = await makePlace(SIMULATED, { API_KEY: SECRET });
  });
  afterEach(async () => {
    const left = (await readdir(place.folder)).filter((name) => !/^(gateway|other)/u.test(name));
    await place.close();
    expect(left, 'it writes nothing').to.deep.equal([]);
  });

  it('finds a sound file sound, in each format', async () => {
    const text = await check(SIMULATED);
    expect(text).to.include({ status: 0, stdout: 'gateway.yaml is valid.\n', stderr: '' });
    const json = await check(SIMULATED, '--format', 'json');
    expect(json).to.include({ status: 0, stderr: '' });
    expect(JSON.parse(json.stdout)).to.deep.equal({ faults: [] });
    const github = await check(SIMULATED, '--format', 'github');
    expect(github).to.include({ status: 0, stdout: '', stderr: '' });
  });

  it('loads large packages only for files that need them', async () => {
    const dist = fileURLToPath(new URL('../../dist/src/', import.meta.url));
    const chunks = (await readdir(join(dist, 'chunks'))).filter((name) => name.endsWith('.js'));
    const named = (name: string): string[] =>
      chunks.filter((one) => one.startsWith(`${name}-`)).map((one) => join(dist, 'chunks', one));
    const loaded = importedBy([join(dist, 'cli/main.js'), ...named('check')]);
    expect(loaded.length).to.be.above(10);
    const isQuery = (file: string): boolean =>
      readFileSync(file, 'utf8').includes('from "@jmespath-community/jmespath"');
    expect(loaded.filter(isQuery)).to.deep.equal([]);
  });

  it('finds the shipped file sound', async () => {
    const shipped = fileURLToPath(new URL('../../gateway.yaml', import.meta.url));
    const { status, stdout, stderr } = await place.tollgate('check', shipped);
    expect({ status, stdout, stderr }).to.deep.equal({
      status: 0,
      stdout: `${shipped} is valid.\n`,
      stderr: '',
    });
  });

  it('prints all faults as text, each line beginning with its place', async () => {
    const { status, stdout, stderr } = await check(BROKEN);
    expect({ status, stderr }).to.deep.equal({ status: 1, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).to.be.at.least(6);
    const row = BROKEN.split('\n')[5] ?? '';
    for (const [at, line] of lines.entries()) {
      if (at % 3 === 0) expect(line).to.match(/^gateway\.yaml:6:\d+: (error|warning): /u);
      if (at % 3 === 1) expect(line).to.equal(`    6 | ${row}`);
      const column = Number(/:6:(\d+):/u.exec(lines[at - 2] ?? '')?.[1]);
      if (at % 3 === 2) expect(line).to.match(new RegExp(`^ {6}\\| {${column}}\\^ [a-z_]+$`, 'u'));
    }
    expect(stdout).to.include('"capabilites"').and.include('"capabilities"');
    expect(stdout).to.include('"you"').and.not.include('is valid');
  });

  it('prints the faults as one JSON document', async () => {
    const { status, stdout, stderr } = await check(BROKEN, 'gateway.yaml', '--format', 'json');
    expect({ status, stderr }).to.deep.equal({ status: 1, stderr: '' });
    const { faults } = JSON.parse(stdout) as Document;
    const keys = ['severity', 'code', 'file', 'line', 'column', 'message', 'hint'];
    for (const fault of faults) expect(fault).to.have.all.keys(keys);
    const unknown = faults.find(({ code }) => code === 'unknown_key');
    const column = BROKEN.split('\n')[5]?.indexOf('capabilites') ?? 0;
    expect(unknown).to.include({ severity: 'error', file: 'gateway.yaml', line: 6 });
    expect(unknown).to.include({ column: column + 1, hint: 'did you mean "capabilities"?' });
  });

  it('prints the faults as workflow commands', async () => {
    const { status, stdout } = await check(BROKEN, '--format', 'github');
    expect(status).to.equal(1);
    for (const line of stdout.trimEnd().split('\n')) {
      expect(line).to.match(/^::(error|warning) file=gateway\.yaml,line=6,col=\d+::\S/u);
    }
  });

  it('counts a file with warnings only as valid, and prints them', async () => {
    const { status, stdout } = await check(DOUBTFUL);
    expect(status).to.equal(0);
    expect(stdout).to.match(
      /^gateway\.yaml:1:17: warning: .*"1kb".*\n.*\n.*\^ small_limit\ngateway\.yaml is valid\.\n$/u,
    );
  });

  it('ends with status 1 for warnings too, where it is strict', async () => {
    const doubtful = await check(DOUBTFUL, '--strict');
    expect(doubtful.status).to.equal(1);
    expect(doubtful.stdout).to.match(/gateway\.yaml has warnings, which --strict refuses\.\n$/u);
    expect(await check(SIMULATED, '--strict')).to.include({ status: 0 });
  });

  it('accepts the warnings that a comment or --allow names, and reports those that accept none', async () => {
    const allowed = DOUBTFUL.replace('1kb }', '1kb } # tollgate: allow small_limit');
    expect(await check(allowed, '--strict')).to.include({ status: 0 });
    const args = ['--strict', '--allow', 'small_limit', '--allow', 'no_tls'];
    const { status, stdout } = await check(DOUBTFUL, 'gateway.yaml', ...args);
    expect(status).to.equal(1);
    expect(stdout).to.match(/^gateway\.yaml:1:1: warning: --allow accepts no warning "no_tls"/u);
    expect(stdout).to.not.include('small_limit');
    for (const format of ['github', 'sarif', 'junit']) {
      const outcome = await check(allowed, '--strict', '--format', format);
      expect(outcome.status, format).to.equal(0);
      expect(outcome.stdout, format).to.not.include('small_limit');
    }
  });

  it('needs no secrets with --no-env, and finds all other faults', async () => {
    const unset = SIMULATED.replace('sqlite:data/tollgate.db', '"${NOWHERE_SET}"');
    expect((await check(unset)).status).to.equal(1);
    expect(await check(unset, '--no-env')).to.include({
      status: 0,
      stdout: 'gateway.yaml is valid.\n',
    });
    const broken = await check(unset.replace('owner: me', 'owner: you'), '--no-env');
    expect(broken.status).to.equal(1);
    expect(broken.stdout).to.include('"you"').and.not.include('NOWHERE_SET');
  });

  it('reads variables from the file .env beside it, or from the one that is named', async () => {
    const yaml = SIMULATED.replace('owners:', 'public_url: "${OWN_URL}"\nowners:');
    await writeFile(join(place.folder, 'other.env'), 'OWN_URL=http://127.0.0.1:8099\n');
    expect((await check(yaml)).status).to.equal(1);
    expect(await check(yaml, '--env-file', 'other.env')).to.include({ status: 0 });
    await writeFile(join(place.folder, '.env'), 'OWN_URL=http://127.0.0.1:8099\n');
    expect(await check(yaml)).to.include({ status: 0 });
    await rm(join(place.folder, '.env'));
  });

  it('names the line of .env that sets no variable, without its value', async () => {
    const yaml = SIMULATED.replace('owners:', 'public_url: "${OWN_URL}"\nowners:');
    const lines = `# of staging\nOWN_URL: ${SECRET}\n`;
    for (const [name, ...args] of [['.env'], ['other.env', '--env-file', 'other.env']] as const) {
      await writeFile(join(place.folder, name), lines);
      const { status, stdout } = await check(yaml, 'gateway.yaml', ...args);
      expect(status).to.equal(1);
      expect(stdout).to.include(`; line 2 of ${name} has a colon in place of "="`);
      expect(stdout).not.to.include(SECRET);
      await rm(join(place.folder, name));
    }
  });

  // Node 20 reads --env-file itself, wherever it stands, unless "--" stands before it.
  it('names a missing --env-file in one sentence, where Node leaves the option to it', () => {
    const main = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
    const args = ['--', main, 'check', '--env-file', 'missing.env'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const reason = 'it is missing, not a file, or larger than 1 MB';
    expect([status, stderr]).to.deep.equal([
      1,
      `tollgate: missing.env cannot be read: ${reason}\n`,
    ]);
  });

  it('prints the faults as SARIF and as JUnit, for other CI systems', async () => {
    const { status, stdout } = await check(BROKEN, '--format', 'sarif');
    expect(status).to.equal(1);
    const { runs } = JSON.parse(stdout) as { runs: { results: SarifResult[] }[] };
    const result = runs[0]?.results.find(({ ruleId }) => ruleId === 'unknown_key');
    const { artifactLocation, region } = result?.locations[0]?.physicalLocation ?? {};
    expect([result?.level, artifactLocation?.uri, region?.startLine]).to.deep.equal([
      'error',
      'gateway.yaml',
      6,
    ]);
    const junit = await check(BROKEN, '--format', 'junit');
    expect(junit.stdout).to.match(/<testsuite name="tollgate check" tests="\d+" failures="[1-9]/u);
    expect(junit.stdout).to.include('<failure type="unknown_key" message="unknown key &quot;cap');
    expect((await check(SIMULATED, '--format', 'junit')).stdout).to.include('failures="0"');
  });

  it('reads another file by argument or by option, and names faults after it', async () => {
    await mkdir(join(place.folder, 'other'));
    const file = 'other/broken.yaml';
    await place.write(SIMULATED);
    for (const args of [[file], ['--config', file], ['gateway.yaml', '--config', file]]) {
      const { status, stderr } = await place.tollgate('check', ...args);
      expect(status).to.equal(args[0] === 'gateway.yaml' ? 0 : 2);
      if (status === 2) expect(stderr).to.equal(`tollgate: ${file} does not exist\n`);
    }
  });

  const unreadable = [
    ['none.yaml', 'does not exist'],
    ['.', 'is a folder: name the file in it'],
    ['/dev/null', 'is no regular file'],
    ['other-pipe', 'is no regular file'],
  ];
  for (const [file = '', reason] of unreadable) {
    for (const format of ['text', 'json', 'github']) {
      it(`ends with status 2 where ${file} ${reason}, as ${format}`, async () => {
        if (file === 'other-pipe') execFileSync('mkfifo', [join(place.folder, file)]);
        const outcome = await place.tollgate('check', file, '--format', format);
        expect(outcome).to.include({ status: 2, stdout: '' });
        expect(outcome.stderr).to.equal(`tollgate: ${file} ${reason}\n`);
      });
    }
  }

  it('ends where a manifest or a secret is a pipe', async () => {
    const pipe = './other-pipe';
    execFileSync('mkfifo', [join(place.folder, pipe)]);
    const piped = `piped: { uses: ${pipe} }, keyed: { uses: openai, api_key: "\${file:${pipe}}" }`;
    const outcome = await check(SIMULATED.replace('{ simulator', `{ ${piped}, simulator`));
    expect(outcome.status).to.equal(1);
    expect(outcome.stdout).to.match(/manifest is a file that cannot be read[^]*cannot be read/u);
  });

  const unparsed = ['', '# nothing\n', '[]\n', 'models: [\n', 'a: 1\na: 2\n', '\t- x\n', '"'];
  it('reports a file that is not YAML as a fault with a place', async () => {
    for (const yaml of unparsed) {
      const { status, stdout, stderr } = await check(yaml, '--format', 'json');
      expect({ status, stderr }, JSON.stringify(yaml)).to.deep.equal({ status: 1, stderr: '' });
      const [fault] = (JSON.parse(stdout) as Document).faults;
      expect(fault?.line).to.be.at.least(1);
      expect(fault?.column).to.be.at.least(1);
    }
  });

  it('refuses an unknown format', async () => {
    const { status, stdout, stderr } = await check(SIMULATED, '--format', 'xml');
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
    expect(stderr).to.include('text, json, github');
  });

  it('shows no secret that the file reads from the environment', async () => {
    const yaml = SIMULATED.replace('simulator: {}', 'simulator: { uses: "${API_KEY}" }');
    for (const format of ['text', 'json', 'github']) {
      const { status, stdout, stderr } = await check(yaml, '--format', format);
      expect(status).to.equal(1);
      expect(stdout + stderr).not.to.include(SECRET);
    }
  });
});
