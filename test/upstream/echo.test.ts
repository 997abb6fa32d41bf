import { expect } from 'chai';
import { withoutEcho } from '../../src/upstream/echo.js';

const sent = (content: string): string =>
  JSON.stringify({ model: 'gpt-4o', max_tokens: 100_000, messages: [{ role: 'user', content }] });

describe("an upstream's message as it is kept", () => {
  const messages: [message: string, prompt: string, kept: string | undefined][] = [
    [
      "Invalid type for 'messages[0].content': expected a string, but got null instead.",
      'How is the weather in Oslo?',
      "Invalid type for 'messages[0].content': expected a string, but got null instead.",
    ],
    ['Unsupported parameter: logit_bias.', 'Hello', 'Unsupported parameter: logit_bias.'],
    ["Bad city 'Oslo Ost' in prompt.", 'the weather in oslo ost', "Bad city '…' in prompt."],
    ['Unknown city: Osl', 'Weather in Oslo', 'Unknown city: …'],
    [
      'My number is 4929 1234 is not valid',
      'my number is 4929 1234',
      'My number is … is not valid',
    ],
    ['max_tokens must be at most 4096, not 100000', 'x', 'max_tokens must be at most 4096, not …'],
    ['不支持的内容：你好世界', '你好世界，你好吗', '不支持的内容：…'],
    ['Caf\u0065\u0301 is unknown', 'The café', '… is unknown'],
    ['No JSON: {"name":"Bob"}', 'Hello', 'No JSON:'],
    ['Bad request.\nYou sent: Bob', 'Hello', 'Bad request.'],
    ['Ann Bob Carl', 'carl, bob, ann', undefined],
    ['', 'Hello', undefined],
  ];
  for (const [message, prompt, kept] of messages) {
    it(`says ${JSON.stringify(kept)} for ${JSON.stringify(message)}`, () => {
      expect(withoutEcho(message, sent(prompt))).to.equal(kept);
    });
  }

  it('is short', () => {
    expect(withoutEcho('ab '.repeat(1_000), sent('Hello'))).to.have.length.at.most(200);
  });

  it('hides words that the request has in escapes of its client', () => {
    const escaped = Buffer.from(String.raw`{"content":"the \u0077eather in \u004fslo"}`);
    expect(withoutEcho('No Oslo in May', escaped)).to.equal('No … in May');
  });

  it('is none of a request whose text is not at hand, or too long to be searched', () => {
    expect(withoutEcho('Bad request.', undefined)).to.equal(undefined);
    expect(withoutEcho('Bad request.', Buffer.from('form'))).to.equal(undefined);
    expect(withoutEcho('Bad request.', sent('x'.repeat(300_000)))).to.equal(undefined);
  });
});
