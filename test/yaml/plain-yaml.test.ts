import { expect } from 'chai';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument } from '../../src/yaml/document.js';
import { readPlain } from '../../src/yaml/plain-yaml.js';
import { Report } from '../../src/yaml/report.js';
import { Source } from '../../src/yaml/source.js';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['.', 'providers', 'test/fixtures/config', 'test/fixtures/upstream'];

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => /\.yaml(?:\.txt)?$/.test(name))
    .map((name) => join(folder, name)),
);
const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'));

/** A file of each kind of value and line that the plain form has. */
const SAMPLE = `# comment
owners: { acme: { name: "A c", x: 'y z' }, b: {} } # end
include: [models/*.yaml, b]

providers:
  lab: # why
    uses: vllm
    base_url: http://127.0.0.1:9/v1
    list:
    - a
    - { b: -1.50, c: [1, 2, []] }
  'q u': { api_key: "\${KEY}" }
models:
    m:8b/x@y:
      capabilities: [chat, vision]
      upstreams:
        - provider: lab
          model: a b:c d
          set:
            on: true
            off: ~
        - stages: [auth, route: task, "a": { b: c } ]
          below key:
            { map: { a: b,
              c: d }, e: [
              f
              , g ] } # end
        - plain text, with {all} of "it"#
      limits: { max_tokens: 16384, n: null }
`;

describe('the plain form of YAML', () => {
  it('is that of nearly all sound files', () => {
    const sound = texts.filter((_, i) => /\/sound-|^providers/.test(files[i] ?? ''));
    expect(sound.length).to.be.above(60);
    expect(sound.filter(isPlain).length / sound.length).to.be.above(0.8);
    expect(isPlain(SAMPLE)).to.equal(true);
    expect(isPlain(SAMPLE.replaceAll('\n', '\r\n'))).to.equal(true);
  });

  it('is read as by the parser of the package, in every file here', () => {
    for (const [i, text] of texts.entries()) expectSame(text, files[i]);
  });

  it('is read as by the parser of the package, with characters changed', () => {
    const pieces = [
      '',
      ' ',
      '  ',
      '\n',
      '\n  ',
      '\t',
      ':',
      ': ',
      '- ',
      '-',
      '#',
      ' #',
      ',',
      '[',
      ']',
    ];
    pieces.push('{', '}', '"', "'", '&a ', '*a', '!t ', '|', '>', '%', '@', '`', '?', '? ', '<<: ');
    pieces.push('\\', '\r', '.', '~', '1', '0x1', '1e3', '.5', '+1', '---', '...', 'é', '\u2028');
    pieces.push('true', 'null', '=', '\uFEFF', '\u00a0', '__proto__', '0', '_', '/', '$', '${A}');
    const change = fc.record({
      at: fc.nat(SAMPLE.length - 1),
      cut: fc.constantFrom(0, 0, 1, 2, 5),
      piece: fc.constantFrom(...pieces),
    });
    const property = fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      let text = SAMPLE;
      for (const { at, cut, piece } of changes) {
        text = text.slice(0, at) + piece + text.slice(at + cut);
      }
      expectSame(text);
    });
    fc.assert(property, { numRuns: 3_000 });
  });

  it('is read as by the parser of the package, of any lines', () => {
    const name = fc.constantFrom('N', 'N', 'c.N', '7N', "'q N'", '"N"', 'x:N', 'x/N@1', '0xN');
    const plain = fc.constantFrom(
      'x',
      '1',
      '-2',
      '1.50',
      '~',
      'no',
      'u v',
      'a, b',
      'x#y',
      '- z',
      '.5',
    );
    const quoted = fc.constantFrom("'it'", '"q: r"', "''", "'a''b'", '"\\n"', '"#"');
    const braces = fc.constantFrom(
      '{}',
      '[ ]',
      '{ a: 1, b: [x, y] }',
      '[{ a: b }, c]',
      '{a: b,}',
      '[a,b]',
    );
    const value = fc.oneof(plain, quoted, braces);
    const tail = fc.constantFrom('', '', '', ' ', ' # c', '  #c', '\n', '\n# c', '\n\n   # c');
    const dash = fc.constantFrom('', '', '', '', '- ', '-  ');
    const content = fc.oneof(
      { arbitrary: fc.tuple(name, value).map((pair) => pair.join(': ')), weight: 4 },
      { arbitrary: name.map((one) => `${one}:`), weight: 3 },
      value,
    );
    const steps = fc.constantFrom(0, 0, 0, 0, 0, 0, 2, 2, -2, -4, 1);
    const text = fc
      .array(fc.tuple(steps, dash, content, tail), { minLength: 1, maxLength: 9, size: 'max' })
      .map((lines) => {
        let deep = 0;
        const rows: string[] = [];
        for (const [step, ...parts] of lines) {
          // Most lines fit the line above, and have a name of their own.
          const opens = rows.at(-1)?.trimEnd().endsWith(':') === true;
          deep = rows.length === 0 ? 0 : Math.max(deep + (opens ? 2 : Math.min(step, 0)), 0);
          if (step === 1) deep += 1;
          rows.push(' '.repeat(deep) + parts.join('').replace('N', String(rows.length % 8)));
          if (parts[0] !== '' && step === 2) deep += parts[0].length;
        }
        return rows.join('\n');
      });
    fc.assert(
      fc.property(text, (one) => expectSame(one)),
      { numRuns: 3_000 },
    );
  });
});

function isPlain(text: string): boolean {
  return readPlain(new Source('f', new Report(), text), text) !== undefined;
}

/** A text in the plain form has no fault, and has the values and places of the other parser. */
function expectSame(text: string, name = text): void {
  const plain = new Source('f', new Report(), text);
  const read = readPlain(plain, text);
  if (!read) return;
  const report = new Report();
  const other = new Source('f', report, text);
  readDocument(other, text, (scalar) => scalar, { left: 10_000 });
  expect(report.sorted('f'), name).to.deep.equal([]);
  expect(read.value, name).to.deep.equal(other.value);
  const places = [plain, other].map((source) => {
    const found: unknown[] = [];
    source.eachMark((pointer, { key, value, written }) => {
      found.push([pointer, key, value, written]);
    });
    return found;
  });
  expect(places[0], name).to.deep.equal(places[1]);
  expect(read.count, name).to.equal(places[0]?.length);
}
