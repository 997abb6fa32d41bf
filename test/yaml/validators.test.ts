import { createRequire } from 'node:module';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { validatorOf } from '../../.ci/compile-validators.js';
import { BUILT_OPTIONS, compilerOf, fileSchema, schemaMark } from '../../src/lib/schemas.js';
import { packageRoot } from '../../src/lib/package-root.js';

const BROKEN: Record<string, unknown> = {
  gateway: { ownerz: 1, owners: { a: {} }, models: { 'a b': { price: 1 } }, limits: { body: '1' } },
  provider: { base_url: 4, operations: { chat: { paht: '' } }, drop: ['a', 'a'] },
  prices: { openai: { models: { a: { input_per_million: -1 } } } },
};

describe('the validators that the build makes', () => {
  let folder: string;
  before(async () => {
    // Beside the packages that a validator needs.
    folder = await mkdtemp(join(packageRoot, 'node_modules', '.validators-'));
  });
  after(() => rm(folder, { recursive: true }));

  for (const [name, data] of Object.entries(BROKEN)) {
    it(`tell what a new one tells, by the schema ${name}`, async () => {
      const file = join(folder, `${name}.cjs`);
      await writeFile(file, await validatorOf(name));
      const built = createRequire(file)(file) as ValidateFunction & { mark: string };
      const text = await readFile(join(packageRoot, 'schemas', `${name}.schema.json`), 'utf8');
      const fresh = compilerOf(BUILT_OPTIONS).compile(fileSchema(text));
      expect(built(structuredClone(data))).to.equal(false);
      expect(fresh(structuredClone(data))).to.equal(false);
      expect(fresh.errors?.length).to.be.greaterThan(1);
      expect(plain(built.errors)).to.deep.equal(plain(fresh.errors));
      expect(built.mark).to.equal(schemaMark(text));
      expect(built.mark).not.to.equal(schemaMark(`${text} `));
    });
  }
});

function plain(errors: ErrorObject[] | null | undefined): unknown {
  return JSON.parse(JSON.stringify(errors));
}
