import { expect } from 'chai';
import fc from 'fast-check';
import { compileOperatorPattern } from '../../src/lib/operator-pattern.js';
import { PERSONAL_DATA } from '../../src/lib/personal-data.js';
import {
  atOnce,
  find,
  inTurns,
  isIn,
  replaced,
  type Range,
  type TextPattern,
} from '../../src/lib/text-search.js';
import { EventLoopTurns } from '../../src/lib/event-loop-turns.js';
import { WordList } from '../../src/lib/word-list.js';

/** What is found in steps. */
function found(pattern: TextPattern, text: string): Range[] {
  return [...find(pattern, text)].flatMap((range) => (range ? [range] : []));
}

describe('a long text that is searched in steps', () => {
  const own = (source: string, reach: number): TextPattern => ({
    ...compileOperatorPattern('own', source),
    reach,
  });

  it('has each match that stands across two steps', () => {
    const pieces: Record<string, string> = {
      email: 'ann@example.com',
      iban: 'DE89 3704 0044 0532 0130 00',
      card: '4111 1111 1111 1111',
      ip: '2001:db8::1',
      phone: '+49 151 2345678',
    };
    for (const [kind, piece] of Object.entries(pieces)) {
      const pattern = PERSONAL_DATA.get(kind);
      if (!pattern) throw new Error(kind);
      const step = 4 * pattern.reach;
      for (let before = step - piece.length - 2; before <= step + 2; before += 1) {
        const text = `${' '.repeat(before)}${piece}, ${' '.repeat(step)}${piece}`;
        const left = atOnce(replaced(text, pattern, '[]'));
        expect(left.trim(), `${kind} behind ${before}`).to.match(/^\[\], +\[\]$/u);
        expect(left.length).to.equal(text.length - 2 * (piece.length - 2));
      }
    }
  });

  it('has what the whole text has, wherever the steps end', () => {
    const piece = fc.constantFrom('a', 'b', 'bb', 'z', ' ', '.', '\n', 'é', '😀');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 80 }).map((all) => all.join('')),
        fc.constantFrom('a+', 'a.b', String.raw`\ba\w`, '^a', 'a$', '(?s)z.*', 'b{2}', '[^a]+'),
        (text, source) => {
          const whole = found(own(source, 10_000), text);
          expect(found(own(source, 8), text)).to.deep.equal(whole);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('has a word and a phrase that stand across two steps, whatever is between', () => {
    const list = new WordList(['two words', '禁止']);
    for (let before = 16_370; before < 16_390; before += 1) {
      const start = 'a '.repeat(before / 2) + (before % 2 ? ' ' : '');
      expect(list.isIn(`${start}two${' -'.repeat(9_000)}words`)).to.equal(true);
      expect(list.isIn(`${start}two other words`)).to.equal(false);
      expect(list.isIn(`${'这'.repeat(before)}禁止${'这'.repeat(before)}`)).to.equal(true);
    }
  });

  it('lets all others run meanwhile', async () => {
    const card = PERSONAL_DATA.get('card');
    if (!card) throw new Error('There is no kind card.');
    let turns = 0;
    let isOver = false;
    const others = (): void => {
      turns += 1;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    const text = '01 '.repeat(150_000);
    // On a clock that goes on as it should, and on one that goes back.
    for (const step_ms of [5, -5]) {
      const before = turns;
      let now_ms = 0;
      const times = { turns: new EventLoopTurns(), now: () => (now_ms += step_ms) };
      expect(await inTurns(isIn(card, text), times, () => undefined)).to.equal(false);
      expect(turns - before).to.be.above(50);
    }
    isOver = true;
  });
});
