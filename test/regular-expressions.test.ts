import { expect } from 'chai';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLinear } from './helpers/linear-time.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LITERAL =
  /(?<=[(,=:?!&|[{\s]|^)\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+)\/([dgimsuvy]+)/gmu;
const CHARACTERS = 32_768;

/** They meet only what is ours: the address of a provider, numbers we write. */
const INSIDE = new Set([
  String.raw`src/upstream/upstream-request.ts \/+$`,
  'src/dashboard/pages/formatting.ts 0+$',
  String.raw`src/dashboard/pages/formatting.ts \B(?=(\d{3})+$)`,
]);

/** Its patterns meet lines of at most a thousand characters, of the operator's own file. */
const BOUNDED = 'src/yaml/yaml-repairs.ts';

interface Pattern {
  file: string;
  pattern: RegExp;
}

function patterns(): Pattern[] {
  return ['src', 'providers'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/u.test(name))
      .flatMap((name) => {
        const file = `${folder}/${name}`;
        const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^\s*(\*|\/\/).*$/gmu, '');
        return [...code.matchAll(LITERAL)].map(([, source = '', flags = '']) => ({
          file,
          pattern: new RegExp(source, flags),
        }));
      }),
  );
}

/** Words that a pattern looks for, and characters that its classes take. */
function wordsOf({ source }: RegExp): string[] {
  const words = source.replaceAll(/\\[a-zA-Z]|[[\](){}^$+*?|\\]/gu, ' ').split(' ');
  return [
    ...new Set([...words.filter(Boolean), 'a', 'A', '0', ' ', '\t', '/', '.', '-', '=', '"']),
  ];
}

describe('every regular expression', () => {
  const all = patterns();

  it('is found', () => {
    expect(all.length).to.be.above(90);
  });

  for (const { file, pattern } of all) {
    const name = `${file} ${pattern.source}`;
    if (INSIDE.has(name) || file === BOUNDED) continue;
    it(`reads hostile repetition in linear time: ${name}`, () => {
      const word = fc.constantFrom(...wordsOf(pattern));
      const words = fc.array(word, { minLength: 1, maxLength: 3 });
      const head = fc.array(word, { maxLength: 2 });
      fc.assert(
        fc.property(head, words, head, (first, pumped, last) => {
          const unit = pumped.join('');
          const middle = unit.repeat(Math.ceil(CHARACTERS / unit.length));
          const text = first.join('') + middle + last.join('') + '\u0001';
          const read = (some: string) => {
            some.replace(pattern, '');
            pattern.lastIndex = 0;
          };
          expect(isLinear(text, read)).to.equal(true);
        }),
        { numRuns: 60 },
      );
    });
  }
});
