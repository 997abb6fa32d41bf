import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

describe('tollgate schema', () => {
  let place: Place;
  before(async () => {
    place = await makePlace(SIMULATED);
  });
  after(() => place.close());

  for (const [args, name] of [
    [[], 'gateway'],
    [['gateway'], 'gateway'],
    [['provider'], 'provider'],
    [['included'], 'included'],
  ] as const) {
    it(`prints the schema of a ${name} file by ${JSON.stringify(args)}`, async () => {
      const { status, stdout, stderr } = await place.tollgate('schema', ...args);
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      const file = new URL(`../../schemas/${name}.schema.json`, import.meta.url);
      expect(stdout).to.equal(readFileSync(file, 'utf8'));
    });
  }
});
