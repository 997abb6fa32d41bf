import { expect } from 'chai';
import { CustomInput } from '../../../../src/modalities/chat/formats/custom-input.js';

/** What is said of an input while its arguments come character by character. */
function saidOf(args: string, input: string): { pieces: string[]; rest: string } {
  const reader = new CustomInput();
  const pieces = Array.from(args)
    .map((one) => reader.add(one))
    .filter((piece) => piece !== '');
  return { pieces, rest: reader.rest(input) };
}

describe('the input of a custom tool', () => {
  for (const input of [
    'ls -l',
    'a "b" \\ c\n\t/',
    'Grüße 🌍',
    '\u0007 end',
    String.raw`\ud83d`,
    '',
  ]) {
    it(`comes as its arguments come: ${JSON.stringify(input)}`, () => {
      const { pieces, rest } = saidOf(JSON.stringify({ input }), input);
      expect([pieces.join(''), rest]).to.deep.equal([input, '']);
    });
  }

  it('never has half of a character that two escapes write', () => {
    const { pieces } = saidOf(String.raw`{ "input" : "\ud83c\udf0d!" }`, '🌍!');
    expect(pieces).to.deep.equal(['🌍', '!']);
  });

  it('waits for the end where something else stands before it', () => {
    const { pieces, rest } = saidOf('{"mode":1,"input":"ls"}', 'ls');
    expect([pieces, rest]).to.deep.equal([[], 'ls']);
  });

  it('waits for the end where a model wrote it without the object around it', () => {
    const { pieces, rest } = saidOf('ls -l', 'ls -l');
    expect([pieces, rest]).to.deep.equal([[], 'ls -l']);
  });
});
