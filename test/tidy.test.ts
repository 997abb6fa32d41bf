import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

const COLUMNS = 100;

interface Source {
  path: string;
  lines: string[];
  imports: string[];
}

const sources = [...read('src'), ...read('providers')];

function read(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/u.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .map((path) => {
      const lines = readFileSync(join(root, path), 'utf8').split('\n');
      return { path, lines, imports: importsOf(path, lines.join('\n')) };
    });
}

/** What a file imports: packages by name, files of the project by their path from its root. */
function importsOf(path: string, text: string): string[] {
  const found = text.matchAll(/(?:^import |^.*\bfrom |\bimport\()'([^'\s]+)'/gmu);
  return [...found].map(([, name = '']) => imported(path, name));
}

function imported(by: string, name: string): string {
  return name.startsWith('.') ? join(dirname(by), name).replace(/\.js$/u, '') : name;
}

/** What is loaded with a file, by way of others too: neither types nor what it asks for later. */
function loadedWith(file: string, loaded = new Set<string>()): Set<string> {
  const source = sources.find(({ path }) => path.replace(/\.tsx?$/u, '') === file);
  const text = source?.lines.join('\n') ?? '';
  const found = text.matchAll(/^(?:im|ex)port (?!type\b)(?:[^;']*\bfrom )?'([^']+)'/gmu);
  for (const [, name = ''] of found) {
    const next = imported(file, name);
    if (loaded.has(next)) continue;
    loaded.add(next);
    loadedWith(next, loaded);
  }
  return loaded;
}

describe('the source tree', () => {
  it('keeps lines within the columns', () => {
    const wide = sources
      .filter(({ path }) => !path.startsWith('src/schema-types/'))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, at) => (line.length > COLUMNS ? [`${path}:${at + 1}`] : [])),
      );
    expect(wide).to.deep.equal([]);
  });
});

interface LintConfig {
  overrides: { files: string[] }[];
}

/** A line in a file of a floor, and the rule of `.oxlintrc.json` that refuses it. */
const REFUSED: readonly (readonly [path: string, line: string, rule: string])[] = [
  ['src/core/a.ts', `export type { B } from '../lib/b.js';`, 'no-restricted-imports'],
  ['src/store/sqlite/a.ts', `import '../../http/b.js';`, 'no-restricted-imports'],
  ['src/stages/a.ts', `import type { B } from '../config/b.js';`, 'no-restricted-imports'],
  ['src/stages/a.ts', `import 'knex';`, 'no-restricted-imports'],
  ['src/store/a.ts', `import 'better-sqlite3';`, 'no-restricted-imports'],
  ['src/config/a.ts', `import 'undici';`, 'no-restricted-imports'],
  ['src/lib/a.ts', `import 'node:net';`, 'no-restricted-imports'],
  ['src/dashboard/pages/a.ts', `import 'openid-client';`, 'no-restricted-imports'],
  ['src/dashboard/pages/a.ts', `import '../client/b.js';`, 'no-restricted-imports'],
  ['src/dashboard/views/a.ts', `import '../pages/b.js';`, 'no-restricted-imports'],
  ['src/dashboard/sign-in/a.ts', `import '../api/b.js';`, 'no-restricted-imports'],
  ['src/dashboard/client/a.ts', `import '../pages/b.js';`, 'no-restricted-imports'],
  ['src/http/a.ts', `export { createUnzip } from 'node:zlib';`, 'no-restricted-imports'],
  ['src/upstream/a.ts', `import 'zstddec';`, 'no-restricted-imports'],
  ['providers/a.ts', `import 'node:fs';`, 'no-restricted-imports'],
  ['providers/a.ts', `import '../src/modalities/chat/price.js';`, 'no-restricted-imports'],
  ['src/lib/b.ts', `import type {} from './c.js';`, 'no-cycle'],
  ['src/lib/c.ts', `import type {} from './b.js';`, 'no-cycle'],
  ['src/lib/a.ts', `export const a = JSON.parse('1');`, 'no-restricted-properties'],
  ['src/lib/a.ts', `export const a = new Response('1').json();`, 'no-restricted-properties'],
  ['src/lib/a.ts', `export const a = process.env['A'];`, 'no-process-env'],
  ['src/lib/a.ts', `export let a: any;`, 'no-explicit-any'],
  ['src/lib/a.ts', `// @ts-expect-error`, 'ban-ts-comment'],
  ['src/lib/a.ts', `// TODO`, 'no-warning-comments'],
];

interface LintReport {
  diagnostics: { code: string; filename: string }[];
}

/** A file of its own for each line, but for two that import each other. */
function fileOf(path: string, at: number): string {
  return path.replace(/\ba\.ts$/u, `${at}.ts`);
}

describe('the rules of .oxlintrc.json', () => {
  it('name each folder of src/ with its floor', () => {
    const { overrides } = JSON.parse(
      readFileSync(join(root, '.oxlintrc.json'), 'utf8'),
    ) as LintConfig;
    const floors = overrides.flatMap(({ files }) => files);
    for (const entry of readdirSync(join(root, 'src')))
      expect(floors).to.include(`src/${entry}/**`);
  });

  it('refuse what they are for: a pattern that oxlint cannot read is one that never matches', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-lint-'));
    copyFileSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    for (const [at, [path, line]] of REFUSED.entries()) {
      const file = join(folder, fileOf(path, at));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${line}\n`);
    }
    const oxlint = join(root, 'node_modules/.bin/oxlint');
    const { stdout } = spawnSync(oxlint, ['--format', 'json'], { cwd: folder, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    const { diagnostics } = JSON.parse(stdout) as LintReport;
    for (const [at, [path, line, rule]] of REFUSED.entries()) {
      const found = diagnostics.filter(({ filename }) => filename === fileOf(path, at));
      expect(
        found.map(({ code }) => code.replace(/^\w+\((.+)\)$/u, '$1')),
        line,
      ).to.include(rule);
    }
  });
});

/** Writes programs for others, which have an environment and packages of their own. */
const SNIPPETS = ['pages/call-code', 'coding-agents'].map((name) => `src/dashboard/${name}.ts`);

describe('package-lock.json', () => {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');

  it('needs no compiler on a current Node (`npm run lock` writes what npm leaves out)', () => {
    const { packages } = JSON.parse(text) as {
      packages: Record<string, { version?: string; gypfile?: boolean; optional?: boolean }>;
    };
    const drivers = Object.entries(packages).filter(([path]) =>
      /^(?!.*@types).*\/better-sqlite3$/u.test(path),
    );
    expect(
      drivers.map(([path, { version, gypfile, optional }]) => [path, version, gypfile, optional]),
    ).to.deep.equal([
      ['node_modules/better-sqlite3', '13.2.0', false, true],
      [
        'node_modules/better-sqlite3-node-20/node_modules/better-sqlite3',
        '12.11.1',
        undefined,
        true,
      ],
    ]);
  });

  it('names no host of a registry', () => {
    expect(text).not.to.match(/"resolved": "(?!file:)/u);
  });
});

describe('the import rule of src/ and providers/', () => {
  it('lets no stage name a modality', () => {
    const names = /['"`](chat|image|video)(\.\w+)?['"`]/u;
    const naming = sources
      .filter(({ path }) => path.startsWith('src/stages/'))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, at) => (names.test(line) ? [`${path}:${at + 1}`] : [])),
      );
    expect(naming).to.deep.equal([]);
  });

  it('loads no more than the words of its commands before one acts', () => {
    const program = sources.find(({ path }) => path === 'src/cli/program.ts');
    const commands = program?.imports.filter((name) => name.startsWith('src/cli/')) ?? [];
    expect(commands).to.include('src/cli/check');
    const outside = (files: Iterable<string>): string[] =>
      [...files].filter((name) => !/^(src\/|node:)/u.test(name)).sort();
    const loaded = new Set(commands.flatMap((name) => [...loadedWith(name)]));
    expect(outside(loaded)).to.deep.equal(['cli-table3', 'commander']);
    expect(outside(loadedWith('src/cli/main'))).to.deep.equal(['commander']);
    expect(outside(loadedWith('src/cli/check'))).to.deep.equal(['commander']);
  });

  it('never names a provider in src/', () => {
    const names = readdirSync(join(root, 'providers'))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => file.replace('.yaml', ''));
    expect(names).to.include('openai');
    const said = new RegExp(`['"\`/](${names.join('|')})['"\`./]`, 'u');
    const naming = sources
      .filter(({ path }) => path.startsWith('src/') && !SNIPPETS.includes(path))
      // A format, and the path of an API, may be known by the name of who wrote it.
      .filter(({ path }) => !/^src\/modalities\/\w+\/formats\//u.test(path))
      .filter(({ path }) => path !== 'src/pipeline/second-path.ts')
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, at) => (said.test(line) ? [`${path}:${at + 1}`] : [])),
      );
    expect(naming).to.deep.equal([]);
  });
});

/** Loops that read bytes or text one by one, by a reason each. A folder ends with a slash. */
const SCANNERS: Readonly<Record<string, string>> = {
  'src/lib/json-text.ts': 'has the limits, or yields between pieces',
  'src/http/read-multipart.ts': 'one step in each turn of the event loop',
  'src/lib/text-search.ts': 'yields between pieces',
  'src/lib/word-list.ts': 'called with pieces by text-search.ts',
  'src/lib/personal-data.ts': 'called with pieces by text-search.ts',
  'src/lib/audio-length.ts': 'reads a head of 64 kB',
  'src/billing/tokens.ts': 'counts a stretch in each turn of the event loop',
  'providers/openai/answer.ts': 'looks back by the length of a tag',
  'src/telemetry/access-log.ts': 'shortens a name of 200 characters at most',
  'src/modalities/video/open-content.ts': 'writes in packets',
  'src/pipeline/text-walk.ts': 'JSON that json-text.ts has taken',
  'src/mapping/plain-text.ts': "an operator's template",
  'src/store/journal/': 'the file of the gateway',
  'src/yaml/': "an operator's file",
  'src/cli/': 'what an operator types',
  'src/dashboard/client/': 'runs in a browser',
  'providers/simulator/': 'stands for an upstream',
};

/** The lines that match, outside of some files. */
function linesWith(pattern: RegExp, except: readonly string[] = []): string[] {
  return sources
    .filter(({ path }) => !except.some((one) => path === one || path.startsWith(one)))
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}`] : [])),
    );
}

describe('data of clients and upstreams', () => {
  it('is never parsed by got, which has no limits', () => {
    expect(linesWith(/responseType: 'json'/u)).to.deep.equal([]);
  });

  it('is read byte by byte only where there is a limit', () => {
    const reading =
      /\b(?:for|while) \(.*\b(?:bytes|chunk|data|json|text)\b.*(?:\.length|indexOf\(|exec\()/u;
    expect(linesWith(reading, Object.keys(SCANNERS))).to.deep.equal([]);
  });
});
