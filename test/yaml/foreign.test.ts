import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readShippedSchema } from '../../src/lib/schemas.js';
import { foreignKeyHint, foreignSpelling } from '../../src/yaml/foreign.js';

interface Words {
  theirs: string[];
  program?: string;
  ours: unknown;
}

const file = new URL('../../schemas/foreign.yaml', import.meta.url);
const { keys } = parse(readFileSync(file, 'utf8')) as { keys: Record<string, Words[]> };

/** The parts of a schema by their `x-type`. */
function partsOf(schema: unknown, found = new Map<string, object>()): Map<string, object> {
  if (typeof schema !== 'object' || schema === null) return found;
  const { 'x-type': type, properties = {} } = schema as { 'x-type'?: string; properties?: object };
  if (type !== undefined) found.set(type, properties);
  for (const part of Object.values(schema)) partsOf(part, found);
  return found;
}

describe('the words of other programs', () => {
  const parts = new Map(
    ['gateway', 'provider'].flatMap((name) => [...partsOf(readShippedSchema(name))]),
  );

  for (const [block, words] of Object.entries(keys)) {
    it(`of ${block} are spelled in snake_case, stand once, and are no keys of ours`, () => {
      const all = words.flatMap(({ theirs }) => theirs);
      expect(all.map(foreignSpelling)).to.deep.equal(all);
      expect(new Set(all).size).to.equal(all.length);
      if (block === 'anywhere') return;
      const [name = ''] = block.split(' of ');
      const own = parts.get(name);
      expect(own, 'a block of a schema').to.not.equal(undefined);
      expect(all.filter((word) => Object.hasOwn(own ?? {}, word))).to.deep.equal([]);
    });
  }

  it('have hints by the form of the value', () => {
    expect(foreignKeyHint('upstream', 'ModelEntry', 'a')).to.equal(
      'write upstreams: [{ provider: VALUE }]',
    );
    expect(foreignKeyHint('upstream', 'ModelEntry', {})).to.equal('write upstreams: [VALUE]');
    expect(foreignKeyHint('upstream', 'ModelEntry', [])).to.equal(undefined);
  });

  it('are found in other spellings, and in the words of the whole block', () => {
    const hint = foreignKeyHint('maxRetries', 'ProviderEntry', 1);
    expect(hint)
      .to.equal(foreignKeyHint('max-retries', 'ProviderEntry', 1))
      .and.include('write retry');
    expect(foreignKeyHint('per_video', 'PriceEntry of video', 1)).to.include('per_video_second');
  });
});
