import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { countValues } from '../../src/lib/json-text.js';
import {
  LongStrings,
  SourceTexts,
  type FindMoved,
  type ParsedJson,
} from '../../src/lib/source-texts.js';

/** A body as `readJsonBody` parses it. */
async function parsedBody(written: string, findMoved?: FindMoved): Promise<ParsedJson | undefined> {
  const bytes = Buffer.from(written);
  const strings = new LongStrings();
  countValues(bytes, 1e6, strings);
  return SourceTexts.parse(bytes, strings, findMoved);
}

/** Notes every field of a body. */
const everyField: FindMoved = (value, moved) => {
  if (typeof value !== 'object' || value === null) return;
  const holder = value as Record<string, unknown>;
  for (const name of Object.keys(holder)) {
    moved.add(holder, name);
    everyField(holder[name], moved);
  }
};

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
const jsonOf = (texts: fc.Arbitrary<string>) =>
  fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      texts,
      number,
      fc.constantFrom('true', 'null'),
      fc.array(tie('tree'), { maxLength: 4 }).map((all) => `[ ${all.join(' , ')} ]`),
      fc
        .array(fc.tuple(fc.oneof(name, text), tie('tree')), { maxLength: 4 })
        .map((all) => `{${all.map(([key, value]) => `${key}:${value}`).join(',')}}`),
    ),
  })).tree;
const json = jsonOf(text);

/** What the gateway may make of a value: parts of it in another order, and more beside. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.toReversed().map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return { added: 'x'.repeat(300), list: Object.values(value), value };
}

function parsed(written: string | Buffer): unknown {
  return JSON.parse(written.toString());
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value ? Object.values(value).flatMap(textsIn) : [];
}

/** What a function returns; undefined if it throws. */
async function outcomeOf(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch {
    return undefined;
  }
}

describe('a JSON text whose long strings are parsed by themselves', () => {
  it('parses to what JSON.parse makes of it, and knows the bytes of its strings', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(json, async (source) => {
        const read = await parsedBody(source);
        if (read?.texts) found += 1;
        expect(JSON.stringify(read?.value)).to.equal(JSON.stringify(parsed(source)));
        expect(read?.value).to.deep.equal(parsed(source));
        for (const one of textsIn(read?.value)) {
          if (read?.texts) expect(read.texts.bytesOf(one)).to.equal(Buffer.byteLength(one));
        }
      }),
      { numRuns: 400 },
    );
    expect(found).to.be.above(50);
  });

  it('is refused if JSON.parse refuses it, at any place', async () => {
    const faults = fc.constantFrom(
      '"',
      '\\',
      '\n',
      '\\u12',
      '\\x',
      ',',
      ':',
      '}',
      ']',
      '\u0000',
      'a',
    );
    await fc.assert(
      fc.asyncProperty(
        json,
        faults,
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (...drawn) => {
          const [source, fault, place] = drawn;
          const at = Math.floor(place * source.length);
          // As bytes: a place may lie within a character of two code units.
          const broken = Buffer.from(source.slice(0, at) + fault + source.slice(at + 1)).toString();
          expect(await outcomeOf(async () => (await parsedBody(broken))?.value)).to.deep.equal(
            await outcomeOf(() => parsed(broken)),
          );
        },
      ),
      { numRuns: 800 },
    );
  });

  it('parses huge strings and many of them over several turns', async () => {
    const all = [
      `é${'x'.repeat(5_000_000)}\n`,
      ...Array.from({ length: 9 }, () => 'y'.repeat(400_000)),
    ];
    const read = await parsedBody(JSON.stringify(all));
    expect(isDeepStrictEqual(read?.value, all)).to.equal(true);
  });
});

describe('a value written with the bytes of its source', () => {
  it('parses to what was parsed before, whatever the client wrote', async () => {
    let spliced = 0;
    await fc.assert(
      fc.asyncProperty(json, async (source) => {
        const { value, texts } = (await parsedBody(source))!;
        if (!texts) return;
        for (const one of [value, reordered(value)]) {
          const written = texts.write(one);
          if (typeof written !== 'string') spliced += 1;
          expect(parsed(written)).to.deep.equal(parsed(JSON.stringify(one)));
        }
      }),
      { numRuns: 400 },
    );
    expect(spliced).to.be.above(50);
  });

  it('keeps the escapes of long strings, and writes short ones anew', async () => {
    const long = '\\u00e9\\/'.repeat(150);
    const source = `{"a":"${long}","b":"\\u00e9","c":12345678901234567890}`;
    const { value, texts } = (await parsedBody(source))!;
    expect(texts?.write(value).toString()).to.equal(
      `{"a":"${long}","b":"é","c":12345678901234567000}`,
    );
  });

  it('finds texts that look alike by all of their characters', async () => {
    const all = Array.from({ length: 30 }, (_, at) => {
      return `${'x'.repeat(501)}${String(at).padStart(3, '0')}${'x'.repeat(500)}`;
    });
    const { value, texts } = (await parsedBody(JSON.stringify(all)))!;
    expect(parsed(texts!.write(value))).to.deep.equal(all);
  });

  it('is plain where no string is long', async () => {
    expect((await parsedBody('{"a":"y"}'))?.texts).to.equal(undefined);
    expect((await parsedBody(`{"${'x'.repeat(300)}" :1}`))?.texts).to.equal(undefined);
  });

  it('is plain once the bytes are released', async () => {
    const { value, texts } = (await parsedBody(`["${'\\u0041'.repeat(300)}"]`))!;
    texts?.release();
    expect(texts?.write(value)).to.equal(JSON.stringify(value));
  });
});

describe('texts that are sealed', () => {
  /** A text as most clients write it: without escapes by numbers. */
  const some = fc.array(fc.constantFrom('a', '"', '\\', 'é', '🌍', ' ', '\n'), { minLength: 1 });
  const usual = some.map((all) => JSON.stringify(`b${all.join('').repeat(300)}`));
  const usualJson = fc
    .tuple(jsonOf(fc.oneof(text, usual)), usual)
    .map((both) => `[${both.join()}]`);

  /** The texts of two values of one shape, side by side. */
  function textPairs(one: unknown, other: unknown): [string, string][] {
    if (typeof one === 'string') return [[one, String(other)]];
    if (typeof one !== 'object' || one === null) return [];
    const others = other as Record<string, unknown>;
    return Object.entries(one).flatMap(([name, inner]) => textPairs(inner, others[name]));
  }

  it('are measured, written and unsealed as what JSON.parse makes of them', async () => {
    let sealed = 0;
    await fc.assert(
      fc.asyncProperty(usualJson, async (source) => {
        const { value, texts } = (await parsedBody(source, everyField))!;
        const whole = parsed(source);
        if (!texts) return;
        for (const [mark, text] of textPairs(value, whole)) {
          if (mark !== text) sealed += 1;
          expect(texts.bytesOf(mark)).to.equal(Buffer.byteLength(text));
          expect(mark.trim() === '').to.equal(text.trim() === '');
        }
        expect(parsed(texts.write(value))).to.deep.equal(parsed(JSON.stringify(whole)));
        expect(parsed(texts.write(reordered(value)))).to.deep.equal(
          parsed(JSON.stringify(reordered(whole))),
        );
        await texts.unsealInTurns(value);
        expect(value).to.deep.equal(whole);
        expect(parsed(texts.write(value))).to.deep.equal(parsed(JSON.stringify(whole)));
      }),
      { numRuns: 400 },
    );
    expect(sealed).to.be.above(50);
  });

  it('are refused if JSON.parse refuses them, at any place', async () => {
    const faults = fc.constantFrom('"', '\\', '\n', '\\u12', '\\x', '\u0000', '\u001f', '\t', 'a');
    const place = fc.double({ min: 0, max: 1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(usualJson, faults, place, async (source, fault, share) => {
        const at = Math.floor(share * source.length);
        const broken = source.slice(0, at) + fault + source.slice(at + 1);
        const read = async () => {
          const { value, texts } = (await parsedBody(broken, everyField))!;
          return texts?.unseal(value) ?? value;
        };
        expect(await outcomeOf(read)).to.deep.equal(
          await outcomeOf(() => parsed(Buffer.from(broken))),
        );
      }),
      { numRuns: 800 },
    );
  });

  it('may be joined, and are measured and written in their places', async () => {
    const text = `say "${'é\n'.repeat(200)}"`;
    const { value, texts } = (await parsedBody(JSON.stringify([text]), everyField))!;
    const [mark] = value as [string];
    expect(mark).to.have.length.below(60);
    const joined = `<a>\n${mark}\n${mark}</a>`;
    const whole = `<a>\n${text}\n${text}</a>`;
    expect(texts!.bytesOf(joined)).to.equal(Buffer.byteLength(whole));
    expect(parsed(texts!.write({ joined }))).to.deep.equal({ joined: whole });
    expect(texts!.unseal({ joined })).to.deep.equal({ joined: whole });
  });

  it('keep the bytes until their call ends', async () => {
    const { value, texts } = (await parsedBody(`["${'x'.repeat(300)}"]`, everyField))!;
    texts?.release();
    expect(parsed(texts!.write(value))).to.deep.equal(['x'.repeat(300)]);
  });
});
