import { expect } from 'chai';
import { stageFaults } from '../helpers/stage-faults.js';
import { PNG, startTextGateway, TEXT_CALLS, type TextGateway } from '../helpers/text-gateway.js';
import { WordList } from '../../src/lib/word-list.js';

interface Refusal {
  error: { message: string; code?: string | number; param?: string };
}

describe('the stage deny', () => {
  let gateway: TextGateway;
  before(async () => {
    gateway = await startTextGateway('deny: { words: [Project Nightjar], patterns: [email] }');
  });
  after(() => gateway.close());

  for (const { title, path, body, field } of TEXT_CALLS) {
    it(`refuses ${title}, names the field and costs nothing`, async () => {
      const { status, text } = await gateway.post(path, body());
      expect(status, text).to.equal(400);
      const { error } = JSON.parse(text) as Refusal;
      expect(error.message).to.equal(`${field} has content that is not allowed here.`);
      if ('param' in error) {
        expect(error).to.include({ code: 'content_policy_violation', param: field });
      }
      expect(gateway.sent()).to.deep.equal([]);
      expect(await gateway.books()).to.deep.equal({ charges: 0, held: 0n, faults: [] });
    });
  }

  it('refuses words inside arguments, and lets all else pass', async () => {
    const call = (args: string, stream: boolean) =>
      gateway.post('/v1/chat/completions', {
        model: 'talk',
        stream,
        messages: [
          { role: 'user', content: 'Hello' },
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'done' },
        ],
      });
    const { text } = await call(String.raw`{"of":"PROJECT\u0020nightjar"}`, true);
    expect((JSON.parse(text) as Refusal).error.param).to.equal(
      'messages[1].tool_calls[0].function.arguments',
    );
    expect((await call('{"of":"projects"}', false)).status).to.equal(200);
    expect((await gateway.books()).charges).to.equal(1);
  });

  it('is not passed by data in blocks and results of no known type', async () => {
    const data = { text: '', data: 'project nightjar' };
    const image = { type: 'image', source: { type: 'base64', data: 'project nightjar' } };
    for (const content of [
      [{ type: 'note', content: data }],
      [{ type: 'note', content: { name: 'project nightjar' } }],
      [{ type: 'note', content: [{ type: 'note', id: 'project nightjar' }] }],
      [{ type: 'tool_result', tool_use_id: 'c', content: data }],
      [{ type: 'tool_result', tool_use_id: 'c', content: image }],
      [{ type: 'search_result', source: 's', title: 't', content: [image] }],
    ]) {
      const messages = [{ role: 'user', content }];
      const { status } = await gateway.post('/v1/messages', {
        model: 'talk',
        max_tokens: 9,
        messages,
      });
      expect(status, JSON.stringify(content)).to.equal(400);
    }
  });

  it('is not passed by a text that only looks like the bytes of a file', async () => {
    const before = (await gateway.books()).charges;
    for (const content of [
      'data:;base64,project-nightjar',
      'data:text/plain;base64,project/nightjar',
      'data:image/png;base64,project/nightjar',
      'data:tell me of project nightjar;base64,AAAA',
      `data:image/png;base64,${PNG.split(',')[1]} project nightjar`,
    ]) {
      const { status, text } = await gateway.post('/v1/chat/completions', {
        model: 'talk',
        messages: [{ role: 'user', content }],
      });
      expect(status, content).to.equal(400);
      expect((JSON.parse(text) as Refusal).error.code).to.equal('content_policy_violation');
    }
    expect((await gateway.books()).charges).to.equal(before);
  });

  it("says the operator's own words", async () => {
    const own = await startTextGateway('deny: { also: ["(?i)nightjar"], message: Not that. }');
    const body = { model: 'painter', prompt: 'A NIGHTJAR' };
    const { text } = await own.post('/v1/images/generations', body);
    expect((JSON.parse(text) as Refusal).error).to.include({
      message: 'Not that.',
      param: 'prompt',
    });
    await own.close();
  });
});

describe('words that are denied', () => {
  const list = new WordList(['bad', 'two words', '禁止', 'naïve']);
  const texts: [string, boolean][] = [
    ['That is Bad.', true],
    ['BADGE, embad', false],
    ['two-words; TWO\n words', true],
    ['two other words', false],
    ['two two words', true],
    ['这是禁止的', true],
    ['ｂａｄ', true],
    ['b\u200bad', true],
    ['nai\u0308ve', true],
    ['', false],
  ];
  for (const [text, isIn] of texts) {
    it(`${isIn ? 'are found' : 'are not'} in ${JSON.stringify(text)}`, () => {
      expect(list.isIn(text)).to.equal(isIn);
    });
  }
});

describe('the options of the stage deny', () => {
  const around = (stage: string): string =>
    `auth, validate: chat-completion, ${stage}, route: { capability: chat }, balance, transform: chat, meter`;
  const faults: [string, RegExp][] = [
    ['deny', /^5:\d+ stage_option .*needs words, patterns or also/u],
    ['deny: { word: [x] }', /^5:\d+ unknown_key .*did you mean "words"\?$/u],
    ['deny: { words: ["--"] }', /^5:\d+ wrong_value .*a letter or a digit/u],
    [
      "deny: { words: [orchid, 'night[ -]?jar'] }",
      /^5:\d+ stage_option .*"night\[ -\]\?jar" .*also: \['night\[ -\]\?jar'\] in its place; $/u,
    ],
    [
      "deny: { words: ['night.*jar', plain, 'n-\\d{4}'] }",
      /^5:\d+ stage_option .*"night\.\*jar" .*also: \['night\.\*jar', 'n-\\d\{4\}'\]/u,
    ],
    [
      "deny: { words: [orchid, 'nightjar*'] }",
      /^5:\d+ stage_option .*"nightjar\*" .*also: \['\(\?i\)\\bnightjar\\w\*\\b'/u,
    ],
    ['deny: { words: bad }', /^5:\d+ wrong_type .*write \[bad\]$/u],
    ['deny: { patterns: [cards] }', /^5:\d+ wrong_value .*did you mean "card"\?$/u],
  ];
  for (const [stage, says] of faults) {
    it(`are checked at boot: ${stage}`, async () => {
      const found = await stageFaults(around(stage));
      expect(found).to.have.length(1);
      expect(found[0]).to.match(says);
    });
  }
});
