import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { check } from '../../src/gateway/check.js';
import { isLong } from '../helpers/long.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What YAML can say in place of any value, and what code that is not careful trips over. */
const VALUES: readonly unknown[] = [
  { toString: 1 },
  { toString: '$', valueOf: 1 },
  { toJSON: 1 },
  { constructor: 1 },
  { length: 5 },
  JSON.parse('{ "then": 1 }'),
  JSON.parse('{ "__proto__": { "toString": 1 } }'),
  [[{ toString: null }]],
  [],
  {},
  null,
  Infinity,
  -0,
  '',
  '\0',
  'constructor',
  '__proto__',
];

type Path = readonly string[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]));
  return path.length > 0 ? [path, ...inner] : inner;
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  const copy: unknown = structuredClone(value);
  const block = copy as Record<string, unknown>;
  block[key] = replaced(block[key], rest, by);
  return copy;
}

describe('check of a file with hostile values', () => {
  let folder: string;
  let gateway: object;
  const manifests = new Map<string, unknown>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-hostile-'));
    gateway = parse(await readFile(join(ROOT, 'gateway.yaml'), 'utf8')) as object;
    const files = await readdir(join(ROOT, 'providers'));
    const names = files.filter((name) => name.endsWith('.yaml'));
    for (const name of names) {
      manifests.set(name, parse(await readFile(join(ROOT, 'providers', name), 'utf8')));
    }
  });
  after(() => rm(folder, { recursive: true }));

  const faultsOf = async (document: unknown): Promise<number> => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, stringify(document));
    const { faults, configuration } = await check(file, {});
    expect(configuration === undefined).to.equal(
      faults.some(({ severity }) => severity === 'error'),
    );
    return faults.length;
  };

  const hostile = (paths: readonly Path[]) =>
    fc.tuple(fc.constantFrom(...paths), fc.constantFrom(...VALUES));

  it('answers faults, and never throws, wherever gateway.yaml has one', async () => {
    const property = fc.asyncProperty(hostile(pathsOf(gateway)), async ([path, value]) => {
      await faultsOf(replaced(gateway, path, value));
    });
    await fc.assert(property, { numRuns: isLong ? 250 : 50 });
  });

  it('answers faults, and never throws, wherever a manifest has one', async () => {
    const file = join(folder, 'own.yaml');
    const own = { uses: './own.yaml', api_key: 'k', base_url: 'http://127.0.0.1:1/v1' };
    const document = { ...gateway, providers: { own } };
    const places = [...manifests].flatMap(([name, manifest]) =>
      pathsOf(manifest).map((path) => [name, ...path]),
    );
    const property = fc.asyncProperty(hostile(places), async ([[name = '', ...path], value]) => {
      await writeFile(file, stringify(replaced(manifests.get(name), path, value)));
      await faultsOf(document);
    });
    await fc.assert(property, { numRuns: isLong ? 300 : 60 });
  });

  for (const word of ['{ toString: 1 }', '[[{ toString: null }]]', '7']) {
    it(`finds no status in ${word}`, async () => {
      const text = await readFile(join(ROOT, 'providers', 'replicate.yaml'), 'utf8');
      expect(text).to.include('starting: ');
      await writeFile(
        join(folder, 'own.yaml'),
        text.replace(/starting: \w+/u, `starting: ${word}`),
      );
      await writeFile(
        join(folder, 'gateway.yaml'),
        stringify({ ...gateway, providers: { own: { uses: './own.yaml', api_key: 'k' } } }),
      );
      const { faults } = await check(join(folder, 'gateway.yaml'), {});
      const [fault] = faults.filter(({ file }) => file.endsWith('own.yaml'));
      expect(fault?.message).to.match(/is no status$/u);
    });
  }
});
