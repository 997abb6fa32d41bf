import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { chat } from '../../../providers/anthropic.js';
import { messagesBody } from '../../../providers/anthropic/encode.js';
import type { MessagesBody, Tool } from '../../../providers/anthropic/wire.js';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { callOf, claudeAt } from '../../helpers/claude.js';
import { startUpstream } from '../../helpers/upstream.js';

/** A call with something of everything that the wire can say. */
const EVERYTHING: ChatCall = callOf({
  messages: [
    { role: 'system', content: 'Be brief.', cache_control: { type: 'ephemeral' } },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Read.' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a' } },
        { type: 'file', file: { file_data: 'data:text/plain;base64,AAAA' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm', signature: 's', format: 'anthropic-claude-v1' },
        { type: 'reasoning.encrypted', data: 'x', format: 'anthropic-claude-v1' },
      ],
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'Found.' },
    { role: 'system', content: 'Now in French.' },
  ],
  fields: {
    stop: ['END'],
    user: 'ada',
    temperature: 0.5,
    cache_control: { type: 'ephemeral', ttl: '5m' },
    tools: [{ type: 'function', function: { name: 'look', description: 'Looks.' } }],
    parallel_tool_calls: false,
    reasoning_effort: 'high',
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'a', schema: { type: 'object', properties: { x: {} } } },
    },
  },
});

/** The compiler holds what the codec sends against the types of Anthropic's own client. */
function typed(
  model: string,
  { tools, messages, ...body }: MessagesBody,
): Anthropic.MessageCreateParamsNonStreaming {
  const functions: Anthropic.Tool[] = (tools ?? []) as Tool[];
  // None of its turns has a block of a tool that the API has run.
  const turns = messages as Anthropic.MessageParam[];
  return { model, messages: turns, ...body, ...(tools && { tools: functions }) };
}

describe("requests to Claude beside Anthropic's own client", () => {
  for (const model of ['claude-haiku-4-5', 'claude-opus-4-8']) {
    it(`are those that the client would send to ${model}, and its answer is understood`, async () => {
      const content = [{ type: 'text', text: 'Bonjour.' }];
      const answer = { id: 'msg_1', type: 'message', role: 'assistant', content };
      const body = JSON.stringify({ ...answer, usage: { input_tokens: 9, output_tokens: 3 } });
      const fake = await startUpstream({ headers: { 'content-type': 'application/json' }, body });
      try {
        const to = claudeAt(model);
        const client = new Anthropic({ apiKey: 'sk-test', baseURL: fake.url, maxRetries: 0 });
        const message = await client.messages.create(
          typed(model, messagesBody(EVERYTHING, to).body),
        );
        const { stream, ...sent } = chat.encode(EVERYTHING, to).body;
        expect(stream).to.equal(false);
        expect(fake.requests[0]?.json).to.deep.equal(sent);
        const [choice] = chat.decode(message, EVERYTHING, to).choices;
        expect(choice).to.have.property('content', 'Bonjour.');
      } finally {
        await fake.close();
      }
    });
  }
});
