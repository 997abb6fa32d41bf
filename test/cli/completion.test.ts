import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import { allCommands, type ShownCommand } from '../helpers/commands.js';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const FILE = `${SIMULATED.replace('  sim:', '  llama3.2:3b:')}  film: { owner: me, capabilities: [video], upstreams: [{ provider: simulator }], price: free }\n`;
/** How a shell splits a line that is being typed: at ":" and "=" too. */
const BREAKS = /([:=])/u;

/** Calls the completion of each line as bash does, and prints the answers in one line each. */
const ASK = `
eval "$(tollgate completion bash)"
complete -p tollgate
while IFS= read -r line; do
  IFS=$'\\t' read -ra COMP_WORDS <<<"$line"
  COMP_WORDS=("\${COMP_WORDS[@]/#EMPTY/}")
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  _tollgate
  (IFS=$'\\t'; printf '%s\\n' "\${COMPREPLY[*]}")
done
`;

describe('tollgate completion', () => {
  let place: Place;
  let commands: ShownCommand[];
  before(async () => {
    place = await makePlace(FILE);
    await mkdir(join(place.folder, 'bin'));
    await symlink(MAIN, join(place.folder, 'bin', 'tollgate'));
    await chmod(MAIN, 0o755);
    commands = await allCommands(place);
  });
  after(() => place.close());

  /** What a shell's program prints for such an input. */
  async function shell(name: string, args: string[], input = ''): Promise<string> {
    const PATH = join(place.folder, 'bin') + delimiter + process.env.PATH;
    const child = spawn(name, args, { cwd: place.folder, env: { PATH, HOME: place.folder } });
    const texts = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.err += text));
    child.stdin.end(input);
    const [status] = (await once(child, 'close')) as [number];
    expect({ status, err: texts.err }).to.deep.equal({ status: 0, err: '' });
    return texts.out;
  }

  /** What bash offers for each line, whose last word is being typed. */
  async function offered(...lines: string[]): Promise<string[][]> {
    const typed = lines.map((line) =>
      line
        .split(' ')
        .flatMap((word) => word.split(BREAKS).filter((part, at) => part !== '' || at === 0))
        .map((word) => (word === '' ? 'EMPTY' : word))
        .join('\t'),
    );
    const out = await shell('bash', ['--norc', '-c', ASK], `${typed.join('\n')}\n`);
    const [registered, ...answers] = out.trimEnd().split('\n');
    expect(registered).to.equal('complete -F _tollgate tollgate');
    return lines.map((_, at) => (answers[at] ?? '').split('\t').filter((word) => word !== ''));
  }

  it('offers in bash every command and every option that help shows', async () => {
    const groups = commands.filter((one) => one.commands.length > 0);
    expect(groups.map(({ path }) => path)).to.include.members(['', 'account', 'key', 'task']);
    const line = (path: string, word: string): string =>
      ['tollgate', path, word].join(' ').replace('  ', ' ');
    const within = await offered(...groups.map(({ path }) => line(path, '')));
    expect(within).to.deep.equal(groups.map((one) => one.commands));
    const options = await offered(...commands.map(({ path }) => line(path, '--')));
    options.forEach((found, at) => expect(found).to.have.members(commands[at]?.options ?? []));
  });

  it('offers in bash what begins so: commands, choices, files, models, providers', async () => {
    const [key, formats, joined, files, models, colon, either, manifests, none] = await offered(
      'tollgate ke',
      'tollgate check --format ',
      'tollgate check --format=s',
      'tollgate explain --config gatew',
      'tollgate key create ann --model ',
      'tollgate explain llama3.2:',
      'tollgate probe ',
      'tollgate init --provider op',
      'tollgate key revoke ',
    );
    expect(key).to.deep.equal(['key']);
    expect(formats).to.deep.equal(['text', 'json', 'github', 'sarif', 'junit']);
    expect(joined).to.deep.equal(['sarif']);
    expect(files).to.deep.equal(['gateway.yaml']);
    expect(models).to.deep.equal(['llama3.2:3b', 'film']);
    // Bash keeps what stands before the colon.
    expect(colon).to.deep.equal(['3b']);
    expect(either).to.deep.equal(['llama3.2:3b', 'film', 'simulator']);
    expect(manifests).to.deep.equal(['openai', 'openai-compatible', 'openrouter']);
    expect(none).to.deep.equal([]);
  });

  it('reads the models of the configuration that the line names, whatever its secrets', async () => {
    const other = FILE.replace('simulator: {}', "simulator: { api_key: '${NOT_SET}' }");
    await writeFile(join(place.folder, 'other.yaml'), other.replace('film', 'movie'));
    const [named, joined, missing] = await offered(
      'tollgate explain --config other.yaml m',
      'tollgate explain --config=other.yaml m',
      'tollgate explain --config none.yaml ',
    );
    expect(named).to.deep.equal(['movie']);
    expect(joined).to.deep.equal(['movie']);
    expect(missing).to.deep.equal([]);
  });

  it('offers the accounts of a store, and makes none where there is none', async () => {
    expect(await offered('tollgate ledger ')).to.deep.equal([[]]);
    expect(await readdir(place.folder)).not.to.include('data');
    await place.tollgate('account', 'create', 'ann');
    await place.tollgate('account', 'create', 'bob & co');
    expect(await offered('tollgate ledger ')).to.deep.equal([['ann', 'bob\\ \\&\\ co']]);
    await rm(join(place.folder, 'data'), { recursive: true });
  });

  it('prints the script as JSON too, and names as one list', async () => {
    const { script } = await place.json<{ script: string }>('completion', 'fish');
    expect(script).to.equal((await place.tollgate('completion', 'fish')).stdout);
    const names = await place.json('completion', '--list', 'models');
    expect(names).to.deep.equal(['llama3.2:3b', 'film']);
  });

  it('refuses another shell, and none', async () => {
    for (const [args, words] of [
      [['tcsh'], 'bash, zsh, fish'],
      [[], 'name a shell: bash, zsh, fish'],
    ] as const) {
      const { status, stdout, stderr } = await place.tollgate('completion', ...args);
      expect({ status, stdout }).to.deep.equal({ status: 1, stdout: '' });
      expect(stderr)
        .to.match(/^tollgate: [^\n]+\n/u)
        .and.include(words);
    }
  });

  const found = (name: string): boolean =>
    (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));

  (found('zsh') ? it : it.skip)('offers the same in zsh', async () => {
    const script = `
      compdef() { print "compdef $*" }
      eval "$(tollgate completion zsh)"
      compadd() { shift; print -r -- "$*" }
      for line in 'key ' 'explain ' 'check --format '; do
        words=(tollgate "\${(@s: :)line}"); CURRENT=$#words; _tollgate
      done`;
    expect(await shell('zsh', ['-f', '-c', script])).to.equal(
      'compdef _tollgate tollgate\ncreate list edit rotate revoke\nllama3.2:3b film\ntext json github sarif junit\n',
    );
  });

  (found('fish') ? it : it.skip)('offers the same in fish', async () => {
    const lines = ['tollgate key ', 'tollgate explain ', 'tollgate check --format '];
    const asked = lines.map((line) => `complete -C '${line}' | string replace -r '\\t.*' ''`);
    const script = ['tollgate completion fish | source', ...asked, 'true'].join('\n');
    const words = ['create', 'edit', 'list', 'revoke', 'rotate', 'film', 'llama3.2:3b'];
    const formats = ['github', 'json', 'junit', 'sarif', 'text'];
    const out = await shell('fish', ['--no-config', '-c', script]);
    expect(out.trimEnd().split('\n')).to.deep.equal([...words, ...formats]);
  });
});
