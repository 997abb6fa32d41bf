import { readFile, readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { FAULT_FORMATS, format } from '../../src/yaml/format.js';
import { ENV, FIXTURES, faultsOf } from './helpers/fixtures.js';
import type { ConfigFault } from '../../src/core/config-fault.js';

/**
 * Each file in the folder ends in lines that list its faults, in order:
 *
 *     #= 5:3 unknown_key | the wrong word | the right word
 *
 * The place may begin with the name of a manifest, and `warning` may stand behind the code. A file
 * without such lines is valid. A file with the line `#env none` is read as `check --no-env` reads
 * it. To add a test, add a file.
 */
interface Expected {
  place: string;
  code: string;
  severity: string;
  wrong: string;
  right: string;
}

function expectedOf(text: string): Expected[] {
  return [...text.matchAll(/^#= (\S+) (\S+)( warning)? ?\|?(.*)$/gm)].map((match) => {
    const [, place = '', code = '', severity = ' error', words = ''] = match;
    const [wrong = '', right = ''] = words.split('|');
    return { place, code, severity: severity.trim(), wrong: wrong.trim(), right: right.trim() };
  });
}

function placeOf({ file, line, column }: ConfigFault, main: string): string {
  const manifest = file === main ? '' : `${file.slice(FIXTURES.length)}:`;
  return `${manifest}${line}:${column}`;
}

const names = (await readdir(FIXTURES)).filter((name) => name.endsWith('.yaml.txt'));

describe('the faults of a configuration', () => {
  for (const name of names) {
    const file = FIXTURES + name;

    it(`are reported, without a secret, for ${name.replace('.yaml.txt', '')}`, async () => {
      const text = await readFile(file, 'utf8');
      const expected = expectedOf(text);
      const env = /^#env none$/m.test(text) ? undefined : ENV;
      const { faults, configuration } = await faultsOf(file, env);
      const found = faults.map(
        (fault) => `${placeOf(fault, file)} ${fault.code} ${fault.severity}`,
      );
      const wanted = expected.map(({ place, code, severity }) => `${place} ${code} ${severity}`);
      expect(found, format(faults, 'text')).to.deep.equal(wanted);
      faults.forEach(({ message, hint }, i) => {
        expect(message).to.include(expected[i]?.wrong);
        expect(hint).to.include(expected[i]?.right);
      });
      const refused = expected.some(({ severity }) => severity === 'error');
      expect(configuration === undefined, 'refused').to.equal(refused);
      for (const style of FAULT_FORMATS) {
        const shown = format(faults, style, () => text.split('\n'));
        for (const secret of [ENV.SECRET, 'hunter2', 'key-from-a-file']) {
          expect(shown).not.to.include(secret);
        }
      }
    });
  }

  describe('as a corpus', () => {
    let all: Expected[][];

    before(async () => {
      all = await Promise.all(
        names.map(async (name) => expectedOf(await readFile(FIXTURES + name, 'utf8'))),
      );
    });

    it('come from at least 200 broken files', () => {
      const broken = all.filter((some) => some.some(({ severity }) => severity === 'error'));
      expect(broken.length).to.be.at.least(200);
    });

    it('have two files or more of each finding', () => {
      const files = new Map<string, number>();
      for (const some of all) {
        const codes = new Set(some.map(({ code }) => code));
        for (const code of codes) files.set(code, (files.get(code) ?? 0) + 1);
      }
      expect(files.size).to.be.at.least(100);
      const single = [...files].filter(([, count]) => count < 2).map(([code]) => code);
      expect(single).to.deep.equal([]);
    });
  });
});
