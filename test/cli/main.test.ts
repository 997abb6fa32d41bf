import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import type { Outcome } from '../helpers/run-command.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };

const COMMANDS = [
  [],
  ['init'],
  ['completion'],
  ['serve'],
  ['check'],
  ['schema'],
  ['explain'],
  ['probe'],
  ['account'],
  ['account', 'create'],
  ['account', 'list'],
  ['credit'],
  ['key'],
  ['key', 'create'],
  ['key', 'list'],
  ['key', 'revoke'],
  ['sign-in-link'],
  ['ledger'],
  ['verify'],
  ['migrate'],
];
/** Processes at a time: each has to start anew. */
const ABREAST = 4;

/** What a person may type wrong, and what the answer must hold. */
const MISTAKES: [string[], ...string[]][] = [
  [['serv'], 'serv', 'Did you mean serve?'],
  [['acount', 'list'], 'Did you mean account?'],
  [['account', 'lst'], 'Did you mean list?'],
  [['account', 'create'], 'name'],
  [['account', 'create', 'x', '--credit', '1x'], '"1x" is not an amount'],
  [['account', 'create', 'x', '--credit', '-1'], 'less than zero'],
  [['account', 'create', ' '], 'name'],
  [['account', 'list', '--josn'], 'Did you mean --json?'],
  [['key', 'create', 'nobody', '--name', 'x'], 'no account "nobody"', 'account list'],
  [['key', 'create', 'nobody'], '--name'],
  [['key', 'list', 'nobody'], '"nobody"'],
  [['key', 'revoke', 'key_none'], '"key_none"'],
  [['key', 'create', 'nobody', '--name', 'x', '--limit', 'much'], '"much" is not an amount'],
  [['key', 'create', 'nobody', '--name', 'x', '--expires', '30'], '"30" is not a time', '30d'],
  [['key', 'create', 'nobody', '--name', 'x', '--expires', '0s'], '"0s" is not a time'],
  [['key', 'create', 'nobody', '--name', 'x', '--model', 'simm'], 'did you mean "sim"?'],
  [['sign-in-link', 'nobody'], 'no account "nobody"', 'account list'],
  [['sign-in-link'], 'account'],
  [['credit', 'nobody', '1'], '"nobody"'],
  [['credit', 'nobody', 'much'], '"much" is not an amount'],
  [['credit', 'nobody', '1e3'], '"1e3" is not an amount'],
  [['credit', 'nobody', '1.0000000001'], 'has more than 9 decimals'],
  [['credit', 'nobody', '1', '--refrence', 'x'], 'Did you mean --reference?'],
  [['schema', 'gatewy'], 'Allowed choices are gateway, included, provider'],
  [['explain', 'simm'], 'did you mean "sim"?'],
  [['probe', 'simm'], 'no model or provider "simm"', 'did you mean "sim"?'],
  [['probe', 'sim', '--timeout', '1h'], '"1h" is not a time from 100ms to 10m'],
  [['ledger', 'nobody'], '"nobody"'],
  [['ledger'], 'account'],
  [['verify', 'all'], 'too many arguments'],
  [['serve', '--workers', '0'], '1 to 256'],
  [['serve', '--workers', 'two'], '1 to 256'],
  [['serve', '--listen', 'everywhere'], '"everywhere" is not an address'],
  [['serve', '--listen', '127.0.0.1:65536'], '127.0.0.1:65536'],
  [['serve', '--workers', '2', '--listen', 'everywhere'], '"everywhere" is not an address'],
];

const UNREADABLE: [string[], string][] = [
  [['account', 'list', '--config', 'none.yaml'], 'does not exist'],
  [['serve', '--config', 'none.yaml'], 'does not exist'],
  [['serve', '--workers', '2', '--config', 'none.yaml'], 'does not exist'],
  [['verify', '--config', '.'], 'is a folder: name the file in it'],
];

describe('the command line', () => {
  let place: Place;
  const outcomes = new Map<string, Outcome>();

  /** What became of a command that `before` has run. */
  function outcome(args: string[]): Outcome {
    const found = outcomes.get(args.join(' '));
    if (!found) throw new Error(`It was not run: ${args.join(' ')}`);
    return found;
  }

  before(async () => {
    place = await makePlace(SIMULATED);
    await place.tollgate('migrate');
    const waiting = [
      ...COMMANDS.map((command) => [...command, '--help']),
      ...[...MISTAKES, ...UNREADABLE].map(([args]) => args),
    ];
    const runner = async (): Promise<void> => {
      for (let args = waiting.pop(); args; args = waiting.pop()) {
        outcomes.set(args.join(' '), await place.tollgate(...args));
      }
    };
    await Promise.all(Array.from({ length: ABREAST }, runner));
  });
  after(() => place.close());

  for (const command of COMMANDS) {
    const name = ['tollgate', ...command].join(' ');
    it(`helps with ${name}, by an example`, () => {
      const { status, stdout } = outcome([...command, '--help']);
      expect(status).to.equal(0);
      expect(stdout).to.match(new RegExp(`^Usage: ${name}\\b`, 'u'));
      expect(stdout).to.match(new RegExp(`\\nExample:\\n  \\$ ${name}\\b`, 'u'));
    });
  }

  it('prints its version', async () => {
    expect((await place.tollgate('--version')).stdout).to.equal(`${version}\n`);
  });

  for (const [args, ...words] of MISTAKES) {
    it(`says what is wrong with "${args.join(' ')}"`, () => {
      const { status, stdout, stderr } = outcome(args);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr).to.match(/^tollgate: [^\n]+\n/u);
      expect(stderr).not.to.match(/^ +at |node:|\.js:\d|undefined|\[object/mu);
      expect(stderr.split('\n').length, stderr).to.be.at.most(4);
      for (const word of words) expect(stderr).to.include(word);
    });
  }

  for (const [args, reason] of UNREADABLE) {
    it(`says of "${args.join(' ')}" that the file ${reason}`, () => {
      const { status, stderr, stdout } = outcome(args);
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      const isUnserved = args[0] === 'serve' && reason === 'does not exist';
      const hint = isUnserved ? '; "tollgate init" writes one' : '';
      expect(stderr).to.equal(`tollgate: ${args.at(-1)} ${reason}${hint}\n`);
    });
  }

  it('has one style of errors: no final period, and no word of the parser', async () => {
    const stderrs = [
      await place.tollgate('account', 'create', ' '),
      await place.tollgate('completion', 'tcsh'),
      await place.tollgate('key', 'revoke', 'key_none'),
      await place.tollgate('token', 'revoke', 'mgt_none'),
      await place.tollgate('init', '--provider', 'ollama', '--no-local'),
    ].map(({ stderr }) => stderr.split('\n', 1)[0]);
    expect(stderrs).to.deep.equal([
      'tollgate: an account needs a name',
      "tollgate: there is no shell 'tcsh'. Allowed choices are bash, zsh, fish",
      'tollgate: there is no active key "key_none"; "tollgate key list ACCOUNT" shows them',
      'tollgate: there is no active token "mgt_none"; "tollgate token list" shows all',
      'tollgate: the provider "ollama" was not found: with --no-local its server is not asked',
    ]);
    for (const name of ['probe', 'requests', 'usage']) {
      expect((await place.tollgate(name, '--help')).stdout).not.to.include('\n\n\n');
    }
  });

  /** What standard error has when standard output goes elsewhere, and then the exit status. */
  async function redirected(elsewhere: string): Promise<string> {
    const main = `${root}dist/src/cli/main.js`;
    const script = `"${process.execPath}" "${main}" account list --json ${elsewhere}; echo "$?" >&2`;
    const shell = spawn('sh', ['-c', script], { cwd: place.folder });
    let stderr = '';
    shell.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    await once(shell, 'close');
    return stderr;
  }

  it('ends without an error when its reader stops early', async () => {
    expect(await redirected('| true')).to.equal('0\n');
  });

  (existsSync('/dev/full') ? it : it.skip)('says that nothing could be written', async () => {
    const said =
      'tollgate: standard output cannot be written: ENOSPC: no space left on device, write\n1\n';
    expect(await redirected('> /dev/full')).to.equal(said);
  });
});
