import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EVERYDAY, meantBy } from '../../src/config/everyday-names.js';
import { packageRoot } from '../../src/lib/package-root.js';

const NAMES = readdirSync(join(packageRoot, 'providers'))
  .filter((file) => file.endsWith('.yaml') && file !== 'prices.yaml')
  .map((file) => file.replace('.yaml', ''));

describe('the everyday names of providers', () => {
  it('lead to manifests that exist, and are none themselves', () => {
    expect(Object.values(EVERYDAY).filter((name) => !NAMES.includes(name))).to.deep.equal([]);
    expect(Object.keys(EVERYDAY).filter((name) => NAMES.includes(name))).to.deep.equal([]);
  });

  for (const [said, meant] of [
    ['chatgpt', 'openai'],
    ['google', 'gemini'],
    ['Claude', 'anthropic'],
    ['azure-openai', 'azure'],
    ['AWS', 'bedrock'],
    ['aws_bedrock', 'bedrock'],
    ['vertex-ai', 'vertex'],
    ['opneai', 'openai'],
    ['quokka', undefined],
    ['constructor', undefined],
  ] as const) {
    it(`find ${meant ?? 'nothing'} for ${said}`, () => {
      expect(meantBy(said, NAMES)).to.equal(meant);
    });
  }

  it('lead to no manifest that is not there', () => {
    expect(meantBy('chatgpt', ['mine'])).to.equal(undefined);
  });
});
