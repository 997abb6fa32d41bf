import { expect } from 'chai';
import fc from 'fast-check';
import { beginningOf } from '../../../src/modalities/chat/conversation-beginning.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';

const text = fc.string({ maxLength: 50 });
const content = fc.oneof(
  text,
  fc.array(
    fc.oneof(
      text.map((one) => ({ type: 'text' as const, text: one })),
      fc.constant({ type: 'image_url' as const, image_url: { url: 'https://a.example/b.png' } }),
    ),
    { maxLength: 3 },
  ),
);
const messageOf = (...roles: ChatMessage['role'][]): fc.Arbitrary<ChatMessage> =>
  fc.record({ role: fc.constantFrom(...roles), content });

describe('the beginning of a conversation', () => {
  it('stays the same from turn to turn', () => {
    const systems = fc.array(messageOf('system', 'developer'), { maxLength: 2 });
    const later = fc.array(messageOf('user', 'assistant', 'tool', 'system'), { maxLength: 5 });
    fc.assert(
      fc.property(systems, messageOf('user'), later, (system, first, more) => {
        const begun = [...system, first];
        expect(beginningOf([...begun, ...more])).to.equal(beginningOf(begun));
      }),
    );
  });

  it('differs where instructions or the first message differ, also within long ones', () => {
    const long = 'x'.repeat(50_000);
    const talks: ChatMessage[][] = [
      [{ role: 'user', content: 'Hi' }],
      [{ role: 'user', content: 'Ho' }],
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      [{ role: 'user', content: `${long}a` }],
      [{ role: 'user', content: `${long}b` }],
      [{ role: 'user', content: `${long}xa` }],
      [{ role: 'system', content: 'Be brief.' }],
      [{ role: 'user', content: null }],
      [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'user', content: 'Ho' },
      ],
    ];
    const told = talks.map((talk) => beginningOf(talk));
    // A text is the same as one part of it.
    expect(told.pop()).to.equal(told[0]);
    expect(new Set(told).size).to.equal(told.length);
    for (const one of told) expect(one.length).to.be.lessThan(3_000);
  });
});
