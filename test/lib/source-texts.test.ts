import { expect } from 'chai';
import fc from 'fast-check';
import { countValues } from '../../src/lib/json-text.js';
import { LongStrings, SourceTexts } from '../../src/lib/source-texts.js';

/** The texts of a body, as `readJsonBody` takes them. */
function textsOf(written: string): { value: unknown; texts: SourceTexts | undefined } {
  const bytes = Buffer.from(written);
  const strings = new LongStrings();
  countValues(bytes, 1e6, strings);
  const value: unknown = JSON.parse(bytes.toString());
  return { value, texts: SourceTexts.of(bytes, value, strings) };
}

/** One of the ways in which JSON can write a character. */
function escaped(character: string, way: number): string {
  const code = character.codePointAt(0) ?? 0;
  if (way === 0 && code <= 0xffff) return `\\u${code.toString(16).padStart(4, '0')}`;
  const plain = JSON.stringify(character).slice(1, -1);
  return way === 1 && character === '/' ? '\\/' : plain;
}

const character = fc
  .tuple(fc.constantFrom('a', '/', '"', '\\', 'é', '日', '🌍', '\ud800', '\n'), fc.nat({ max: 3 }))
  .map(([one, way]) => escaped(one, way));
/** A string as a client writes it: half of them are long. */
const text = fc
  .tuple(fc.array(character, { minLength: 1, maxLength: 12 }), fc.constantFrom(1, 40))
  .map(([some, times]) => `"${some.join('').repeat(times)}"`);
const name = fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"', '"12"', '"toJSON"', '""');
const number = fc.constantFrom(
  '0',
  '-0',
  '12345678901234567890',
  '1e400',
  '1.0',
  '9007199254740993',
);

/** JSON as no library writes it: names that are repeated, and numbers that no double holds. */
const json = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    text,
    number,
    fc.constantFrom('true', 'null'),
    fc.array(tie('tree'), { maxLength: 4 }).map((all) => `[ ${all.join(' , ')} ]`),
    fc
      .array(fc.tuple(fc.oneof(name, text), tie('tree')), { maxLength: 4 })
      .map((all) => `{${all.map(([key, value]) => `${key}:${value}`).join(',')}}`),
  ),
})).tree;

/** What the gateway may make of a value: parts of it in another order, and more beside. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.toReversed().map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return { added: 'x'.repeat(300), list: Object.values(value), value };
}

function parsed(written: string | Buffer): unknown {
  return JSON.parse(written.toString());
}

describe('a value written with the bytes of its source', () => {
  it('parses to what was parsed before, whatever the client wrote', () => {
    let spliced = 0;
    fc.assert(
      fc.property(json, (source) => {
        const { value, texts } = textsOf(source);
        if (!texts) return;
        for (const one of [value, reordered(value)]) {
          const written = texts.write(one);
          if (typeof written !== 'string') spliced += 1;
          expect(parsed(written)).to.deep.equal(parsed(JSON.stringify(one)));
        }
      }),
      { numRuns: 1_000 },
    );
    expect(spliced).to.be.above(100);
  });

  it('keeps the escapes of long strings, and writes short ones anew', () => {
    const long = '\\u00e9\\/'.repeat(150);
    const { value, texts } = textsOf(`{"a":"${long}","b":"\\u00e9","c":12345678901234567890}`);
    expect(texts?.write(value).toString()).to.equal(
      `{"a":"${long}","b":"é","c":12345678901234567000}`,
    );
  });

  it('finds texts that look alike by all of their characters', () => {
    const all = Array.from({ length: 30 }, (_, at) => {
      return `${'x'.repeat(501)}${String(at).padStart(3, '0')}${'x'.repeat(500)}`;
    });
    const { value, texts } = textsOf(JSON.stringify(all));
    expect(parsed(texts!.write(value))).to.deep.equal(all);
  });

  it('is plain where the order of its strings is not that of the text', () => {
    const long = `"${'x'.repeat(300)}"`;
    expect(textsOf(`{"2":${long},"1":"y"}`).texts).to.equal(undefined);
    expect(textsOf(`{"a":${long},"a":"y"}`).texts).to.equal(undefined);
    expect(textsOf('{"a":"y"}').texts).to.equal(undefined);
  });

  it('is plain once the bytes are released', () => {
    const { value, texts } = textsOf(`["${'\\u0041'.repeat(300)}"]`);
    texts?.release();
    expect(texts?.write(value)).to.equal(JSON.stringify(value));
  });
});
