import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { load } from '../../src/config/load.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { isLong } from '../helpers/long.js';
import { ENV, FIXTURES } from './helpers/fixtures.js';

/** One slip of the hand in a line of the file. */
type Slip = (lines: string[], at: number, other: number) => string[];

const SLIPS: Record<string, Slip> = {
  'delete a line': (lines, at) => lines.toSpliced(at, 1),
  'duplicate a line': (lines, at) => lines.toSpliced(at, 0, lines[at] ?? ''),
  'misspell a word': (lines, at) => lines.with(at, (lines[at] ?? '').replace(/(\w)(\w)/, '$2$1')),
  'swap two lines': (lines, at, other) =>
    lines.with(at, lines[other] ?? '').with(other, lines[at] ?? ''),
  'lose a value': (lines, at) => lines.with(at, (lines[at] ?? '').replace(/:.*$/, ':')),
  'lose a character': (lines, at, other) => {
    const line = lines[at] ?? '';
    const column = other % (line.length + 1);
    return lines.with(at, line.slice(0, column) + line.slice(column + 1));
  },
  'indent otherwise': (lines, at) => lines.with(at, ` ${lines[at] ?? ''}`),
  'write a list': (lines, at) => lines.with(at, (lines[at] ?? '').replace(/: (.*)$/, ': [$1]')),
};

describe('load of a file with slips', () => {
  let folder: string;
  let lines: string[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-slips-'));
    const sound = await readFile(`${FIXTURES}sound-everything.yaml.txt`, 'utf8');
    const at_home = sound.replaceAll(/secret\.key|\.\/providers\/open\.yaml/g, `${FIXTURES}$&`);
    lines = at_home
      .replace('keyed:', `keyed:\n    uses: ${FIXTURES}providers/keyed.yaml`)
      .split('\n');
  });
  after(() => rm(folder, { recursive: true }));

  it('starts from a sound file', async () => {
    const file = join(folder, 'sound.yaml');
    await writeFile(file, lines.join('\n'));
    expect((await load(file, ENV, MODALITIES)).faults).to.deep.equal([]);
  });

  it('answers faults or a configuration, and never throws', async () => {
    const slip = fc.tuple(fc.constantFrom(...Object.keys(SLIPS)), fc.nat(), fc.nat());
    const file = join(folder, 'gateway.yaml');
    const property = fc.asyncProperty(
      fc.array(slip, { minLength: 1, maxLength: 3 }),
      async (all) => {
        const text = all.reduce(
          (now, [name, at, other]) =>
            SLIPS[name]?.(now, at % now.length, other % now.length) ?? now,
          lines,
        );
        await writeFile(file, text.join('\n'));
        const { faults, configuration } = await load(file, ENV, MODALITIES);
        const refused = faults.some(({ severity }) => severity === 'error');
        expect(configuration === undefined).to.equal(refused);
        for (const { line, column, message } of faults) {
          expect(line).to.be.within(1, text.length + 1);
          expect(column).to.be.at.least(1);
          expect(message).not.to.include(ENV.SECRET);
        }
      },
    );
    await fc.assert(property, { numRuns: isLong ? 1_000 : 40 });
  });
});
