import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { TYPED_SCHEMAS, typesOf } from '../../.ci/generate-types.js';

describe('schema types', () => {
  it('are those that the source imports', async () => {
    const files = await readdir(new URL('../../src/schema-types/', import.meta.url));
    expect(files).to.have.members(TYPED_SCHEMAS.map((name) => `${name}.ts`));
  });

  for (const name of TYPED_SCHEMAS) {
    it(`of ${name} are what the schema makes them`, async () => {
      const file = new URL(`../../src/schema-types/${name}.ts`, import.meta.url);
      expect(await readFile(file, 'utf8')).to.equal(await typesOf(name));
    });
  }
});
