import { expect } from 'chai';
import fc from 'fast-check';
import type { ChatMessage, ContentPart } from '../../../src/schema-types/chat-completion.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { bodyOf, claudeAt, ignoredOf, thrownBy } from '../../helpers/claude.js';

const text = (said: string): object => ({ type: 'text', text: said });
const user = (content: string | ContentPart[]): ChatMessage => ({ role: 'user', content });
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content });
const system = (content: string): ChatMessage => ({ role: 'system', content });
const called = (id: string, args = '{}', content: string | null = null): ChatMessage => ({
  role: 'assistant',
  content,
  tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: args } }],
});
const result = (id: string, content: string | ContentPart[]): ChatMessage => ({
  role: 'tool',
  tool_call_id: id,
  content,
});
const turns = (messages: ChatMessage[], model?: string): unknown =>
  bodyOf({ messages }, claudeAt(model)).messages;

describe("a conversation in Claude's words", () => {
  it('tells system and developer messages before the conversation as the system prompt', () => {
    const messages = [system('Be brief.'), { role: 'developer', content: 'Be kind.' } as const];
    const body = bodyOf({ messages: [...messages, user('Hi')] });
    expect(body.system).to.deep.equal([text('Be brief.'), text('Be kind.')]);
    expect(body.messages).to.deep.equal([{ role: 'user', content: [text('Hi')] }]);
  });

  it('lets a user begin where the client has a system prompt alone, or the assistant first', () => {
    const opening = { role: 'user', content: [text('Begin.')] };
    expect(turns([system('Be brief.')])).to.deep.equal([opening]);
    expect(turns([assistant('Welcome.'), user('Hi')])).to.deep.equal([
      opening,
      { role: 'assistant', content: [text('Welcome.')] },
      { role: 'user', content: [text('Hi')] },
    ]);
  });

  it('makes the messages of one role in a row one turn', () => {
    expect(turns([user('a'), user('b'), assistant('c'), assistant('d'), user('e')])).to.deep.equal([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
      { role: 'user', content: [text('e')] },
    ]);
  });

  it('quirk 30: sends no empty text block, and no message that would be empty', () => {
    const parts = user([
      { type: 'text', text: '' },
      { type: 'text', text: 'x' },
    ]);
    expect(turns([user('  '), parts, assistant('\n'), user('y')])).to.deep.equal([
      { role: 'user', content: [text('x'), text('y')] },
    ]);
    const [, calls] = turns([user('a'), called('c1', '', ''), result('c1', '')]) as unknown[];
    expect(calls).to.deep.equal({
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }],
    });
  });

  it('puts the results of parallel calls first in one turn of the user', () => {
    const messages = [
      user('a'),
      { ...called('c1', '{"x":1}', 'Looking.') },
      result('c1', 'one'),
      user('And?'),
      result('c2', [{ type: 'text', text: 'two' }]),
    ];
    expect(turns(messages)).to.deep.equal([
      { role: 'user', content: [text('a')] },
      {
        role: 'assistant',
        content: [text('Looking.'), { type: 'tool_use', id: 'c1', name: 'look', input: { x: 1 } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [text('one')] },
          { type: 'tool_result', tool_use_id: 'c2', content: [text('two')] },
          text('And?'),
        ],
      },
    ]);
  });

  it('gives an empty result of a tool no content', () => {
    const [, , last] = turns([user('a'), called('c1'), result('c1', '')]) as {
      content: object[];
    }[];
    expect(last?.content).to.deep.equal([{ type: 'tool_result', tool_use_id: 'c1' }]);
  });

  it('keeps arguments that are no object, as a model may have written them', () => {
    const input = (args: string): unknown => {
      const [, said] = turns([user('a'), called('c1', args)]) as {
        content: { input: unknown }[];
      }[];
      return said?.content[0]?.input;
    };
    expect(input('[1]')).to.deep.equal({ arguments: [1] });
    expect(input('{"cut":')).to.deep.equal({ arguments: '{"cut":' });
  });

  it('replaces ids of other upstreams, in a call and in its result alike', () => {
    const said = turns([user('a'), called('call:1|x'), result('call:1|x', 'r')]) as {
      content: { id?: string; tool_use_id?: string }[];
    }[];
    const id = said[1]?.content[0]?.id ?? '';
    expect(id).to.match(/^[a-zA-Z0-9_-]{1,64}$/u);
    expect(said[2]?.content[0]?.tool_use_id).to.equal(id);
  });

  it('tells instructions within the conversation by the user where a model has no such role', () => {
    expect(turns([user('a'), assistant('b'), system('Now in French.'), user('c')])).to.deep.equal([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b')] },
      { role: 'user', content: [text('<system>\nNow in French.\n</system>'), text('c')] },
    ]);
  });

  it('tells them to a new model right after the turn of the user', () => {
    const messages = [user('a'), assistant('b'), system('Now in French.'), user('c')];
    expect(turns([...messages, assistant('d'), user('e')], 'claude-opus-4-8')).to.deep.equal([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b')] },
      { role: 'user', content: [text('c')] },
      { role: 'system', content: [text('Now in French.')] },
      { role: 'assistant', content: [text('d')] },
      { role: 'user', content: [text('e')] },
    ]);
    expect(turns([user('a'), assistant('b'), system('Go on.')], 'claude-opus-4-8')).to.deep.equal([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b')] },
      { role: 'user', content: [text('<system>\nGo on.\n</system>')] },
    ]);
  });

  it('has an old model go on with the words of the assistant, without the space at their end', () => {
    const [, last] = turns([user('a'), assistant('Once upon ')]) as unknown[];
    expect(last).to.deep.equal({ role: 'assistant', content: [text('Once upon')] });
  });

  it('leaves a last message of the assistant to another upstream where the model refuses it', () => {
    const asking = (): unknown => turns([user('a'), assistant('Once')], 'claude-sonnet-4-6');
    expect(thrownBy(asking)).to.be.instanceOf(UpstreamError).with.property('fault', 'unsupported');
  });

  it('begins with the user, alternates and holds no empty text, whatever a client sends', () => {
    const texts = fc.constantFrom('', ' \n', 'x', 'y ');
    const ids = fc.constantFrom('a', 'b:c');
    const message = fc.oneof(
      fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: texts }),
      ids.map((id) => called(id)),
      fc.record({ id: ids, said: texts }).map(({ id, said }) => result(id, said)),
    );
    const models = fc.constantFrom('claude-sonnet-4-5', 'claude-2.1');
    const lists = fc.array(message as fc.Arbitrary<ChatMessage>, { minLength: 1 });
    fc.assert(
      fc.property(lists, models, (messages, model) => {
        const sent = bodyOf({ messages }, claudeAt(model)).messages;
        expect(sent.map(({ role }) => role)).to.deep.equal(
          sent.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
        );
        for (const { content } of sent) {
          expect(content).to.not.deep.equal([]);
          const others = content.findIndex(({ type }) => type !== 'tool_result');
          const last = content.findLastIndex(({ type }) => type === 'tool_result');
          expect(others === -1 || others > last).to.equal(true);
          for (const block of content) {
            if (block.type === 'text') expect(block.text.trim()).to.not.equal('');
          }
        }
        const end = sent.at(-1)?.content.at(-1);
        if (sent.at(-1)?.role === 'assistant' && end?.type === 'text') {
          expect(end.text).to.equal(end.text.trimEnd());
        }
      }),
    );
  });

  it('names the names of speakers as ignored', () => {
    const messages = [{ ...user('a'), name: 'Ada' }];
    expect(ignoredOf({ messages })).to.deep.equal(['messages[].name']);
  });

  it('lets marks of the cache travel on parts, messages, tools and the whole request', () => {
    const mark = { type: 'ephemeral' };
    const body = bodyOf({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 's', cache_control: mark }] },
        { ...user('long'), cache_control: { type: 'ephemeral', ttl: '5m' } },
        called('c1'),
        { ...result('c1', 'r'), cache_control: mark },
      ],
      fields: {
        cache_control: mark,
        tools: [{ type: 'function', function: { name: 'look' }, cache_control: mark }],
      },
    });
    expect(body.cache_control).to.deep.equal(mark);
    expect(body.system).to.deep.equal([{ ...text('s'), cache_control: mark }]);
    expect(body.tools?.[0]).to.deep.include({ name: 'look', cache_control: mark });
    const [first, , last] = body.messages.map(({ content }) => content[0]);
    expect(first).to.deep.equal({
      ...text('long'),
      cache_control: { type: 'ephemeral', ttl: '5m' },
    });
    expect(last).to.deep.include({ tool_use_id: 'c1', cache_control: mark });
  });
});
