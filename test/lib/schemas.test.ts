import { readdirSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { compilerOf, readShippedSchema, VALIDATOR_OPTIONS } from '../../src/lib/schemas.js';

const FOLDER = new URL('../../schemas/', import.meta.url);
const ENDING = '.schema.json';

describe('the shipped schemas', () => {
  const files = readdirSync(FOLDER).filter((file) => file !== 'foreign.yaml');
  for (const file of files) {
    it(`hold in ${file} a valid schema`, () => {
      expect(file.endsWith(ENDING)).to.equal(true);
      const ajv = new Ajv2020();
      const schema = readShippedSchema(file.slice(0, -ENDING.length));
      expect(ajv.validateSchema(schema), ajv.errorsText()).to.equal(true);
    });
  }
});

describe('a length in a schema', () => {
  const ajv = compilerOf(VALIDATOR_OPTIONS.body);
  const plain = new Ajv2020();
  const CAT = '🐈';

  it('counts characters, as JSON Schema does: an emoji is one', () => {
    for (const schema of [{ maxLength: 4 }, { minLength: 4 }, { minLength: 0, maxLength: 0 }]) {
      const [own, standard] = [ajv.compile(schema), plain.compile(schema)];
      for (let units = 0; units <= 10; units += 1) {
        for (let cats = 0; 2 * cats <= units; cats += 1) {
          const text = CAT.repeat(cats) + 'x'.repeat(units - 2 * cats);
          expect(own(text), text).to.equal(standard(text));
          expect(own.errors).to.deep.equal(standard.errors);
        }
      }
    }
  });
});
