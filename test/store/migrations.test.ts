import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { MIGRATIONS } from '../../src/store/migrations.js';
import { describeSchema, onOneLine } from './helpers/describe-schema.js';
import { onEachStore } from './helpers/ground.js';
import { emptyPlace, migrateTo } from './helpers/old-store.js';

/** The sections of a file of `migrations/`: what each migration took away, added and ran. */
function recordedMigrations(dialect: string): Map<string, string> {
  const text = readFileSync(new URL(`./migrations/${dialect}.txt`, import.meta.url), 'utf8');
  const sections = text.split(/^# (\S+)\n/mu).slice(1);
  return new Map(
    MIGRATIONS.flatMap((_, at) => {
      const [name, section] = sections.slice(at * 2, at * 2 + 2);
      return name === undefined ? [] : [[name, section?.trim() ?? '']];
    }),
  );
}

onEachStore('each migration', (ground) => {
  it('makes the same schema as on the day it was added: a released one is never edited', async () => {
    const { place } = ground;
    await emptyPlace(place);
    const recorded = recordedMigrations(place.dialect);
    let before: string[] = [];
    for (const { name } of MIGRATIONS) {
      const statements = await migrateTo(place, name);
      const after = await describeSchema(place);
      const section = [
        ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
        ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
        ...statements.map((sql) => `> ${onOneLine(sql)}`),
      ].join('\n');
      const known = recorded.get(name);
      if (known === undefined) {
        throw new Error(
          `Append this to test/store/migrations/${place.dialect}.txt:\n# ${name}\n${section}\n`,
        );
      }
      expect(section, name).to.equal(known);
      before = after;
    }
    expect([...recorded.keys()]).to.deep.equal(MIGRATIONS.map(({ name }) => name));
  });
});
