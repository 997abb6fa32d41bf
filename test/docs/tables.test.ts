import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from '../../src/config/load.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { builtInStages } from '../../src/stages/index.js';
import { CHARGE_COLUMNS } from '../../src/store/ledger/ledger-columns.js';
import { codeIn, DOCUMENTS, ROOT, tableOf } from '../helpers/documents.js';
import type { Configuration } from '../../src/core/configuration.js';

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  enum?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  $defs?: Record<string, Schema>;
}

const PAGE = 'docs/configuration.md';

describe('the tables of docs', () => {
  let schema: Schema;
  let folder: string;

  before(async () => {
    schema = JSON.parse(await readFile(`${ROOT}schemas/gateway.schema.json`, 'utf8')) as Schema;
    folder = await mkdtemp(join(tmpdir(), 'tollgate-tables-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** The keys at a path such as `models.*.limits`; undefined where the schema has no such path. */
  function keysAt(path: string): string[] | undefined {
    const found = at(path === '' ? [] : path.split('.'));
    return found && Object.keys(found.properties ?? {});
  }

  function at(words: readonly string[]): Schema | undefined {
    let here: Schema | undefined = resolved(schema);
    for (const word of words) {
      const next: Schema | boolean | undefined =
        word === '*' ? here?.additionalProperties : here?.properties?.[word];
      here = typeof next === 'object' ? resolved(next) : undefined;
    }
    return here;
  }

  function resolved(one: Schema): Schema {
    const name = /^#\/\$defs\/(\w+)$/u.exec(one.$ref ?? '')?.[1];
    return name === undefined ? one : (schema.$defs?.[name] ?? {});
  }

  async function limitsOf(limits: object): Promise<Configuration['limits'] | undefined> {
    const file = join(folder, 'gateway.yaml');
    const rest = { owners: {}, providers: {}, models: {} };
    await writeFile(file, JSON.stringify({ ...rest, limits }));
    const { configuration, faults } = await load(file, {}, MODALITIES);
    expect(faults).to.deep.equal([]);
    return configuration?.limits;
  }

  it('of keys name keys that gateway.yaml has', () => {
    for (const { path, tables } of DOCUMENTS) {
      for (const { header, rows } of tables.filter(({ header }) => header[0] === 'key')) {
        expect(header[1], path).to.equal('meaning');
        for (const [cell] of rows) {
          expect(at(codeIn(cell).split('.')), `${path}: ${cell}`).to.not.equal(undefined);
        }
      }
    }
  });

  it('name every key of the file, of its limits, and of a model', () => {
    const told = DOCUMENTS.flatMap(({ tables }) => tables)
      .filter(({ header }) => header[0] === 'key')
      .flatMap(({ rows }) => rows.map(([cell]) => codeIn(cell)));
    for (const path of ['', 'limits', 'models.*', 'models.*.limits']) {
      const keys = keysAt(path) ?? [];
      expect(keys.length, path).to.be.above(5);
      for (const key of keys) {
        const name = path === '' ? key : `${path}.${key}`;
        const isTold = told.some((one) => one === name || one.startsWith(`${name}.`));
        expect(isTold, name).to.equal(true);
      }
    }
    const text = DOCUMENTS.find(({ path }) => path === PAGE)?.text ?? '';
    for (const key of keysAt('providers.*') ?? []) expect(text).to.include(key);
  });

  it('have the defaults of the limits', async () => {
    const { rows } = tableOf(PAGE, 'key', 'limits.body');
    const told = rows.map(([key, , value]) => [codeIn(key).replace('limits.', ''), codeIn(value)]);
    const defaults = told.filter(([, value]) => /^\d|^false$/u.test(value ?? ''));
    expect(defaults).to.have.length(rows.length - 1);
    const written = defaults.map(([key, value = '']) => [
      key,
      /^(?:\d+|false)$/u.test(value) ? (JSON.parse(value) as unknown) : value,
    ]);
    expect(await limitsOf(Object.fromEntries(written) as object)).to.deep.equal(await limitsOf({}));
  });

  it('have every capability, stage and column of the ledger', () => {
    const firsts = (path: string, first: string): string[] =>
      tableOf(path, first).rows.map(([cell]) => codeIn(cell));
    const items = at(['models', '*', 'capabilities'])?.items;
    const capabilities = items && resolved(items).enum;
    expect(firsts('docs/models.md', 'capability')).to.have.members(capabilities ?? []);
    const stages = [...builtInStages(MODALITIES).keys()];
    expect(firsts('docs/stages.md', 'stage')).to.have.members(stages);
    const columns = CHARGE_COLUMNS.map(({ name }) => name);
    expect(firsts('docs/money.md', 'column')).to.deep.equal(columns);
  });

  it('have every endpoint', async () => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, JSON.stringify({ owners: {}, providers: {}, models: {} }));
    const { endpoints } = await load(file, {}, MODALITIES);
    const told = tableOf('docs/api.md', 'path').rows.map(([cell]) => codeIn(cell));
    expect(told).to.have.members(endpoints.map(({ method, path }) => `${method} ${path}`));
  });
});
