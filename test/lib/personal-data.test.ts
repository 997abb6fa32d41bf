import { expect } from 'chai';
import fc from 'fast-check';
import { PERSONAL_DATA } from '../../src/lib/personal-data.js';
import { atOnce, isIn, replaced, type TextPattern } from '../../src/lib/text-search.js';
import { isLinear } from '../helpers/linear-time.js';

function patternOf(kind: string): TextPattern {
  const pattern = PERSONAL_DATA.get(kind);
  if (!pattern) throw new Error(`There is no kind ${kind}.`);
  return pattern;
}

/** The text with each find of one kind in brackets. */
function found(kind: string, text: string): string {
  return atOnce(replaced(text, patternOf(kind), '[]'));
}

/** By kind: a text, and what is left of it. */
const TEXTS: Record<string, [text: string, left: string][]> = {
  email: [
    ['Write to ann@example.com.', 'Write to [].'],
    ["'ann.b+c@mail.example.co.uk'; bob@x.io", "'[]'; []"],
    ['mailto:ann@example.com?subject=x', 'mailto:[]?subject=x'],
    ['?to=ann%40example.com&x', '?to=[]&x'],
    ['"ann b"@example.com, ann＠example.com', '[], []'],
    ['jörg@bücher.de und иван@почта.рф', '[] und []'],
    ['联系ann@example.com谢谢', '联系[]谢谢'],
    [`${'a'.repeat(70)}@example.com`, 'aaaaaa[]'],
    ['react@18.2.0, @types/node, a @ b.c, ann@localhost', ''],
  ],
  iban: [
    ['DE89 3704 0044 0532 0130 00 and more', '[] and more'],
    ['de89370400440532013000, GB29 NWBK 6016 1331 9268 19!', '[], []!'],
    ['DE89 3704 0044 0532 0130 01', ''],
    ['AT12 this is a text of words', ''],
  ],
  card: [
    ['4111 1111 1111 1111 123, 5555-5555-5555-4444', '[] 123, []'],
    ['378282246310005 and 6011000990139424', '[] and []'],
    ['4111111111111111 4111111111111111', '[] []'],
    ['No. 1 4111111111111111', 'No. 1 []'],
    ['4111 1111 1111 1112, 0.4111111111111111, 41111111111111111111111', ''],
    ['x4111111111111111y', ''],
  ],
  ip: [
    ['from 192.168.0.1:8080 to 8.8.8.8.', 'from []:8080 to [].'],
    ['2001:db8::1, [fe80::1]:80, ::ffff:10.0.0.1: yes', '[], [[]]:80, []: yes'],
    ['at 10:30:15, std::string, a::b, v1.2.3.4, 1.2.3.4.5, 256.1.1.1', ''],
  ],
  phone: [
    ['Call +49 151 2345678 or +1 (555) 123-4567!', 'Call [] or []!'],
    ['0151 23456789, 030/1234567, (030) 123 45 67, 06.12.34.56.78', '[], [], [], []'],
    ['(555) 123-4567, 555.123.4567, 1-555-123-4567', '[], [], []'],
    ['0049 151 2345678, +44\u00a020\u00a07946\u00a00018, +49\u2011151\u20112345678', '[], [], []'],
    ['01.02.2024 0151 2345678', '01.02.2024 []'],
    ['2024-01-15 10:30, 01.02.2024 10:30, 01/2024 - 12/2025, 1700000000, 0.123456789', ''],
    ['3-4, 12345678, 00000000-0000-0000-0000-000000000000', ''],
  ],
};

describe('personal data in a text', () => {
  for (const [kind, texts] of Object.entries(TEXTS)) {
    for (const [text, left] of texts) {
      it(`${left === '' ? 'leaves what is no' : 'finds the'} ${kind}: ${text}`, () => {
        expect(found(kind, text)).to.equal(left === '' ? text : left);
        expect(atOnce(isIn(patternOf(kind), text))).to.equal(left !== '');
      });
    }
  }

  it('is found in linear time, whatever is repeated', () => {
    const piece = fc.constantFrom(
      '@',
      'a',
      'a.',
      '1',
      '1 ',
      '+1',
      ':',
      '::',
      '1.',
      '4 ',
      'DE12 ',
      '(0',
      '%40',
      '-',
    );
    const unit = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(unit, (repeated) => {
        const text = repeated.repeat(Math.ceil(65_536 / repeated.length));
        for (const pattern of PERSONAL_DATA.values()) {
          const read = (some: string) => void atOnce(replaced(some, pattern, '[]'));
          expect(isLinear(text, read), pattern.kind).to.equal(true);
        }
      }),
      { numRuns: 60 },
    );
  });
});
