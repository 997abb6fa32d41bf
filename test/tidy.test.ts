import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

/** The layer of a file: its folder in src/, or its own name for a file that stands there. */
function layer(path: string): string {
  const [top = '', second = ''] = path.split('/');
  return top === 'src' ? second.replace(/\.tsx?$/u, '') : top;
}

function offenders(holds: (source: Source) => boolean): string[] {
  return sources.filter((source) => !holds(source)).map(({ path }) => path);
}

function importing(from: RegExp, forbidden: RegExp): string[] {
  return sources
    .filter(({ path }) => from.test(path))
    .flatMap(({ path, imports }) =>
      imports.filter((name) => forbidden.test(name)).map((name) => `${path} imports ${name}`),
    );
}

describe('the source tree', () => {
  it('finds the files it is about', () => {
    expect(sources.length).to.be.greaterThan(40);
    expect(sources.some(({ imports }) => imports.includes('knex'))).to.equal(true);
  });

  it('keeps lines within the columns', () => {
    const wide = sources
      .filter(({ path }) => !path.startsWith('src/schema-types/'))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, at) => (line.length > COLUMNS ? [`${path}:${at + 1}`] : [])),
      );
    expect(wide).to.deep.equal([]);
  });

  it('has no loose ends and no untyped values', () => {
    const loose =
      /\bas any\b|: any\b|<any>|@ts-ignore|@ts-expect-error|\bTODO\b|\bFIXME\b|\bXXX\b/u;
    expect(offenders(({ lines }) => !lines.some((line) => loose.test(line)))).to.deep.equal([]);
  });
});

/** Writes programs for others, which have an environment and packages of their own. */
const SNIPPETS = ['call-code', 'agent-snippet'].map((name) => `src/dashboard/pages/${name}.ts`);

/** Stands for an upstream, and reads the files that it answers with. */
const CLIPS = 'providers/simulator/clip.ts';

/** The rooms of src/ from the top floor to the ground: the map in CONTRIBUTING.md. */
const FLOORS = [
  ['cli'],
  ['gateway'],
  ['dashboard'],
  ['stages', 'modalities', 'config'],
  ['pipeline'],
  ['billing', 'mapping', 'telemetry'],
  ['store', 'upstream', 'http', 'yaml'],
  ['core', 'lib', 'schema-types'],
];
const MAX_ROOMS = 18;

/** Each file of src/ with the files of src/ that it imports, types included. */
function arrowsWithin(): Map<string, string[]> {
  const inside = sources.filter(({ path }) => path.startsWith('src/'));
  return new Map(
    inside.map(({ path, imports }) => [
      path.replace(/\.tsx?$/u, ''),
      imports.filter((name) => name.startsWith('src/')),
    ]),
  );
}

/** The files that can be reached from themselves. */
function circles(arrows: ReadonlyMap<string, readonly string[]>): string[] {
  return [...arrows.keys()].filter((start) => {
    const seen = new Set<string>();
    const open = [...(arrows.get(start) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === start) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(arrows.get(next) ?? []));
    }
    return false;
  });
}

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

describe('the rooms of src/', () => {
  const arrows = arrowsWithin();
  const rooms = [...new Set([...arrows.keys()].map(layer))];
  const floorOf = (path: string): number =>
    FLOORS.findIndex((names) => names.includes(layer(path)));
  const upward = [...arrows].flatMap(([from, names]) =>
    names
      .filter((to) => layer(to) !== layer(from) && floorOf(to) <= floorOf(from))
      .map((to) => `${from} imports ${to}`),
  );
  const loose = sources.filter(({ path }) => /^src\/[^/]+$/u.test(path)).map(({ path }) => path);
  const inCircles = circles(arrows);

  it(`are ${rooms.length}, with ${arrows.size} files: ${upward.length} upward imports, ${inCircles.length} files in circles, ${loose.length} loose files`, () => {
    expect(rooms.filter((room) => !FLOORS.flat().includes(room))).to.deep.equal([]);
    expect(rooms.length).to.be.at.most(MAX_ROOMS);
    expect(loose).to.deep.equal([]);
  });

  it('import from lower floors and from themselves only, types included', () => {
    expect(upward).to.deep.equal([]);
  });

  it('hold no circle of imports, types included', () => {
    expect(inCircles).to.deep.equal([]);
  });
});

/** Types of a module that are named without loading it. */
function isTypeImport(found: string): boolean {
  const [path = '', name = ''] = found.split(' imports ');
  const text = sources.find((source) => source.path === path)?.lines.join('\n') ?? '';
  const imports = [...text.matchAll(/^import (type )?[^;]*? from '([^']+)'/gmu)];
  return imports.every(([, type, module]) => module !== name || type !== undefined);
}

describe('the import rule of src/ and providers/', () => {
  it('lets only the store near the database', () => {
    const database = /^(knex|better-sqlite3|pg)(\/|$)/u;
    expect(importing(/^(?!src\/store\/)/u, database)).to.deep.equal([]);
    // Which better-sqlite3 there is depends on the Node: src/store/sqlite/sqlite-driver.ts finds it.
    const loading = importing(/^src\/store\//u, /^better-sqlite3$/u);
    expect(loading.filter((found) => !isTypeImport(found))).to.deep.equal([]);
  });

  it('lets only src/upstream open connections to upstreams', () => {
    const clients = /^(undici|got)$/u;
    expect(importing(/^src\/(?!upstream\/)/u, clients)).to.deep.equal([]);
    const network = /^node:(https?|net|tls)$/u;
    const inbound = /^src\/(?!upstream\/|http\/|gateway\/|lib\/cidr)/u;
    const connecting = importing(inbound, network).filter((found) => !isTypeImport(found));
    expect(connecting).to.deep.equal([]);
  });

  it('lets no stage name a modality', () => {
    const names = /['"`](chat|image|video)(\.\w+)?['"`]/u;
    const naming = sources
      .filter(({ path }) => path.startsWith('src/stages/'))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, at) => (names.test(line) ? [`${path}:${at + 1}`] : [])),
      );
    expect(naming).to.deep.equal([]);
  });

  it('keeps what pages and API share apart from both', () => {
    const above = /^(koa|src\/dashboard\/(api|openapi|pages|sign-in|index))(\/|$)/u;
    expect(importing(/^src\/dashboard\/views\//u, above)).to.deep.equal([]);
  });

  it('keeps scripts for browsers to themselves', () => {
    const others = /^(?!src\/dashboard\/client\/)/u;
    expect(importing(/^src\/dashboard\/client\//u, others)).to.deep.equal([]);
    const outside = /^(?!src\/dashboard\/client\/)/u;
    expect(importing(outside, /^src\/dashboard\/client\//u)).to.deep.equal([]);
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

  it('lets only the sign-in talk to identity providers', () => {
    expect(importing(/^src\/(?!dashboard\/sign-in\/)/u, /^openid-client$/u)).to.deep.equal([]);
    const others = /^src\/dashboard\/(api|pages)\//u;
    expect(importing(/^src\/dashboard\/sign-in\//u, others)).to.deep.equal([]);
  });

  it('keeps adapters to types, pure helpers and one another', () => {
    const pure =
      /^(providers\/|node:(crypto|timers\/promises|zlib|buffer)$|@smithy\/(signature-v4|eventstream-codec)$)/u;
    const shared =
      /^src\/(core|lib|schema-types)\/|^src\/modalities\/\w+\/codec$|^src\/upstream\/(classify-error|sse)$/u;
    const strays = sources
      .filter(({ path }) => path.startsWith('providers/') && path !== CLIPS)
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => !pure.test(name) && !shared.test(name))
          .map((name) => `${path} imports ${name}`),
      );
    expect(strays).to.deep.equal([]);
  });

  it('lets only the configuration and the command line read the environment', () => {
    const readers = sources
      .filter(({ path }) => !['config', 'cli'].includes(layer(path)) && !SNIPPETS.includes(path))
      .filter(({ lines }) => lines.some((line) => line.includes('process.env')));
    expect(readers.map(({ path }) => path)).to.deep.equal([]);
  });

  it('never names a provider in src/', () => {
    const names = readdirSync(join(root, 'providers'))
      .filter((file) => file.endsWith('.yaml') && file !== 'prices.yaml')
      .map((file) => file.replace('.yaml', ''));
    expect(names).to.include('openai');
    const said = new RegExp(`['"\`/](${names.join('|')})['"\`./]`, 'u');
    const naming = sources
      .filter(({ path }) => path.startsWith('src/') && !SNIPPETS.includes(path))
      // A format may be known by the name of who wrote it.
      .filter(({ path }) => !/^src\/modalities\/\w+\/formats\//u.test(path))
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, at) => (said.test(line) ? [`${path}:${at + 1}`] : [])),
      );
    expect(naming).to.deep.equal([]);
  });

  it('imports only files that exist', () => {
    const missing = sources.flatMap(({ path, imports }) =>
      imports
        .filter((name) => /^(src|providers)\//u.test(name))
        .filter(
          (name) => !['.ts', '.tsx', '.d.ts'].some((end) => existsSync(join(root, name + end))),
        )
        .map((name) => `${path} imports ${name}`),
    );
    expect(missing).to.deep.equal([]);
  });
});

/** Files that do what others must not, by a reason each. A path that ends with a slash is a folder. */
type Exceptions = Readonly<Record<string, string>>;

/** Where a text becomes JSON without the limits of `json-text.ts`. */
const PARSERS: Exceptions = {
  'src/lib/json-text.ts': 'has the limits',
  'src/lib/schemas.ts': 'schemas of the package',
  'src/http/request-body.ts': "an operator's schema",
  'src/cli/': 'what an operator types, and the package',
  'src/config/service-account.ts': "an operator's file",
  'src/store/': 'what the gateway has stored',
  'src/telemetry/': 'lines and reports of the gateway',
  'src/dashboard/client/': 'runs in a browser',
  'src/dashboard/openapi/': 'the package, and a script for browsers',
  'src/dashboard/pages/call-code.ts': 'programs for others',
  'src/dashboard/sign-in/github.ts': 'the identity provider that the operator chose',
  'src/dashboard/views/': 'names that a view has joined',
};

/** What unpacks bytes. */
const DECOMPRESSORS: Exceptions = {
  'src/http/unpack-body.ts': 'streams, and its reader has a limit',
  'src/upstream/upstream-call.ts': 'streams, and its reader has a limit',
};

/** Loops that read bytes or text one by one. */
const SCANNERS: Exceptions = {
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

/** The lines that match, outside of the exceptions. */
function linesWith(pattern: RegExp, exceptions: Exceptions): string[] {
  const allowed = Object.keys(exceptions);
  return sources
    .filter(({ path }) => !allowed.some((one) => path === one || path.startsWith(one)))
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}`] : [])),
    );
}

describe('data of clients and upstreams', () => {
  it('becomes JSON within the limits of json-text.ts alone', () => {
    const parsing = /\bJSON\.parse\b|\.json\(\)|responseType: 'json'/u;
    expect(linesWith(parsing, PARSERS)).to.deep.equal([]);
  });

  it('is unpacked only where there is a limit', () => {
    const unpacking =
      /^import (?:[^;]*(?:unzip|inflate|decompress|\*)[^;]* from 'node:zlib'|[^;]* from '\w*zstd\w*')/imu;
    const users = sources.filter(({ lines }) => unpacking.test(lines.join('\n')));
    const others = users.filter(({ path }) => DECOMPRESSORS[path] === undefined);
    expect(others.map(({ path }) => path)).to.deep.equal([]);
    expect(users.length).to.be.greaterThan(0);
  });

  it('is read byte by byte only where there is a limit', () => {
    const reading =
      /\b(?:for|while) \(.*\b(?:bytes|chunk|data|json|text)\b.*(?:\.length|indexOf\(|exec\()/u;
    expect(linesWith(reading, SCANNERS)).to.deep.equal([]);
  });
});
