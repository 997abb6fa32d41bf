import { readdirSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { readShippedSchema } from '../../src/lib/schemas.js';

const FOLDER = new URL('../../schemas/', import.meta.url);
const ENDING = '.schema.json';

describe('the shipped schemas', () => {
  for (const file of readdirSync(FOLDER)) {
    it(`hold in ${file} a valid schema`, () => {
      expect(file.endsWith(ENDING)).to.equal(true);
      const ajv = new Ajv2020();
      const schema = readShippedSchema(file.slice(0, -ENDING.length));
      expect(ajv.validateSchema(schema), ajv.errorsText()).to.equal(true);
    });
  }
});
