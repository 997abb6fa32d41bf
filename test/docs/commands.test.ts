import { expect } from 'chai';
import { CODING_AGENTS } from '../../src/dashboard/coding-agents.js';
import { documentAt, DOCUMENTS } from '../helpers/documents.js';
import { runCommand } from '../helpers/run-command.js';
import { runPage, startsOfPage, withShellBlocks } from '../helpers/run-page.js';

/** Every block of a shell that is shown and not run. */
const NOT_RUN = [
  'docs/benchmarks.md: takes minutes, and needs another gateway',
  'docs/benchmarks.md: takes minutes, and needs another gateway',
  'docs/benchmarks.md: takes minutes, and needs another gateway',
  ...CODING_AGENTS.map(
    () => 'docs/coding-agents.md: starts a coding agent, which npm run test:agents does',
  ),
  'docs/command-line.md: needs the ID of a key',
  'docs/install.md: copies the store of a service',
  'docs/install.md: installs into a cluster',
  'docs/install.md: runs in a repository of its own',
  'docs/install.md: sets up a service',
  'docs/install.md: sets up services',
  'docs/install.md: starts containers',
  'docs/install.md: starts containers',
  'docs/install.md: stops a service',
  'docs/install.md: upgrades a service',
  'docs/models.md: needs the internet',
  'docs/operating.md: needs a PostgreSQL',
  'docs/operating.md: reads the log of a running service',
  'docs/quick-start.md: asks a real provider',
  'docs/quick-start.md: installs the packed program from the network',
];

/** A command of the program: its options, and the commands under it. */
interface Help {
  options: ReadonlySet<string>;
  commands: ReadonlyMap<string, Help>;
}

async function helpOf(...words: string[]): Promise<Help> {
  const { stdout } = await runCommand([...words, '--help']);
  const [, listed = ''] = stdout.split('\nCommands:\n');
  const names = [...listed.matchAll(/^ {2}([a-z-]+) /gmu)].map(([, name = '']) => name);
  const commands = new Map<string, Help>();
  for (const name of names.filter((one) => one !== 'help')) {
    commands.set(name, await helpOf(...words, name));
  }
  const [options = ''] = stdout.split('\nExample:\n');
  return { options: new Set(options.match(/--[a-z][a-z-]*/gu)), commands };
}

describe('the commands of README and docs', () => {
  let help: Help;

  before(async () => {
    help = await helpOf();
  });

  /** The commands of the program that a page names: inline, and in blocks of a shell. */
  function named(path: string): string[] {
    const { codes, blocks } = documentAt(path);
    const lines = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'));
    return [...codes, ...lines].flatMap(
      (line) => /^(?:npx )?tollgate (?=[a-z-])(.*)$/u.exec(line)?.slice(1) ?? [],
    );
  }

  for (const { path } of DOCUMENTS) {
    if (named(path).length === 0) continue;
    it(`in ${path} are there, with their options`, () => {
      for (const command of named(path)) {
        const words = command.split(/[\s[\]]+/u).filter((word) => word !== '');
        let here = help;
        while (here.commands.has(words[0] ?? '')) {
          here = here.commands.get(words.shift() ?? '') ?? here;
        }
        expect(here.commands.size, `tollgate ${command}`).to.equal(0);
        for (const option of words.filter((word) => word.startsWith('--'))) {
          expect([...here.options], `tollgate ${command}`).to.include(option);
        }
      }
    });
  }

  it('are all in docs/command-line.md, with all their options', () => {
    const { text } = documentAt('docs/command-line.md');
    const expectTold = (words: string, { options, commands }: Help): void => {
      for (const [name, below] of commands) expectTold(`${words} ${name}`, below);
      if (commands.size > 0) return;
      expect(text).to.include(`\`${words}`);
      for (const option of options) {
        if (option !== '--help') expect(text, words).to.include(option);
      }
    };
    expectTold('tollgate', help);
  });

  it('are run, but for these', () => {
    const skipped = DOCUMENTS.flatMap(({ path, blocks }) =>
      blocks
        .filter(({ language, info }) => language === 'sh' && info.startsWith('no-test'))
        .map(({ info }) => `${path}: ${info.replace(/^no-test: /u, '')}`),
    );
    expect(skipped.sort()).to.deep.equal(NOT_RUN);
  });

  const [starting] = DOCUMENTS.filter((page) => startsOfPage(page).length > 0);

  it('start the gateway in one way, which is run once', () => {
    expect(new Set(DOCUMENTS.flatMap(startsOfPage))).to.have.property('size', 1);
  });

  for (const page of DOCUMENTS.filter(withShellBlocks)) {
    it(`in ${page.path} work, in their order`, async () => {
      await runPage(page, { runsStart: page === starting });
    }).timeout(600_000);
  }
});
