import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { chat } from '../../../providers/openai.js';
import type { Upstream } from '../../../src/core/model.js';
import type { ChatCall, ChatChoice } from '../../../src/modalities/chat/codec.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

type Said = Record<string, unknown>;

/** A provider that answers with state, and refuses a history that has lost it. */
interface Fake {
  model: string;
  /** What the message of a tool call carries beside the call. */
  state: Said;
  /** What of a message of the assistant must have come back; throws where it has not. */
  demand: (message: Said, at: number) => void;
  /** Whether the state stands in the tool call. */
  in_call?: boolean;
}

const DETAILS = [
  { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1' },
];
const SIGNATURE = { extra_content: { google: { thought_signature: 'a+/bcA==' } } };

const FAKES: Record<string, Fake> = {
  deepseek: {
    model: 'deepseek-v4-pro',
    state: { reasoning_content: 'Hm.' },
    // It takes any text, and refuses none.
    demand: (message) => expect(message.reasoning_content).to.be.a('string').that.is.not.empty,
  },
  openrouter: {
    model: 'anthropic/claude-haiku-4.5',
    state: { reasoning: 'Hm.', reasoning_details: DETAILS },
    demand: (message) => expect(message.reasoning_details).to.deep.equal(DETAILS),
  },
  zai: {
    model: 'glm-4.7',
    state: { reasoning_content: 'Hm.' },
    demand: (message) => expect(message.reasoning_content).to.equal('Hm.'),
  },
  minimax: {
    model: 'MiniMax-M2.1',
    state: { content: '<think>Hm.</think>' },
    demand: (message) => expect(message.content).to.include('<think>Hm.</think>'),
  },
  'google-compatible': {
    model: 'gemini-3-pro-preview',
    state: {},
    in_call: true,
    demand: (message) => {
      const [call] = message.tool_calls as Said[];
      expect(call).to.have.nested.property('extra_content.google.thought_signature');
    },
  },
};

function at(name: string, model: string): Upstream {
  const url = new URL(`../../../providers/${name}.yaml`, import.meta.url);
  const { wire = {} } = parse(readFileSync(url, 'utf8')) as { wire?: Said };
  return upstreamAt(providerAt('http://fake.invalid', { wire }), { model });
}

/** One call of the weather tool, by the provider of this name; the history must please it. */
function turn(name: string, messages: readonly ChatMessage[], number: number): ChatMessage[] {
  const fake = FAKES[name];
  if (!fake) throw new Error(`There is no fake of ${name}.`);
  const upstream = at(name, fake.model);
  const call: ChatCall = { messages, stream: false, n: 1, max_tokens: 99, fields: {} };
  const sent = chat.encode(call, upstream).body.messages as Said[];
  for (const message of sent) {
    if (message.role === 'assistant') fake.demand(message, number);
    const { id } = (message.tool_calls as Said[] | undefined)?.[0] ?? {};
    expect(String(id) + String(message.tool_call_id)).to.not.include('~ts~');
  }
  const asked = {
    id: `call_${number}`,
    type: 'function',
    function: { name: 'weather', arguments: '{}' },
    ...(fake.in_call && SIGNATURE),
  };
  const message = { role: 'assistant', content: null, tool_calls: [asked], ...fake.state };
  const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  const [choice] = chat.decode(body, call, upstream).choices;
  return choice ? [...messages, ...asClient(choice)] : [];
}

/** What a client adds to the conversation: the answer as it came, and the tool's result. */
function asClient(choice: ChatChoice): ChatMessage[] {
  const { content, tool_calls = [], reasoning_content, reasoning_details } = choice;
  return [
    {
      role: 'assistant',
      content,
      tool_calls,
      ...(reasoning_content !== undefined && { reasoning_content }),
      ...(reasoning_details && { reasoning_details }),
    },
    ...tool_calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'rain' })),
  ];
}

describe('a conversation of three turns with tools and thinking', () => {
  const begin: ChatMessage[] = [{ role: 'user', content: 'How is the weather?' }];

  for (const name of Object.keys(FAKES)) {
    it(`loses nothing that ${name} demands back`, () => {
      let messages = begin;
      for (const number of [1, 2, 3]) messages = turn(name, messages, number);
      expect(messages).to.have.length(7);
    });
  }

  it('goes on with DeepSeek and Gemini where other models have called the tools', () => {
    for (const name of ['deepseek', 'google-compatible']) {
      const messages = turn('zai', turn('zai', begin, 1), 2);
      expect(turn(name, messages, 3)).to.have.length(7);
    }
  });

  it('takes no signature of Gemini along to another upstream', () => {
    const messages = turn('google-compatible', begin, 1);
    expect(messages.at(-1)?.tool_call_id).to.equal('call_1~ts~a-_bcA');
    expect(turn('deepseek', messages, 2)).to.have.length(5);
  });
});
