import { sse } from '../../../../../helpers/upstream.js';
import {
  at,
  COMPLETION_TOKENS,
  halves,
  listAt,
  PROMPT_TOKENS,
  textAt,
  TOKENS,
} from '../conversation-parts.js';
import { json, KEY, nameOf, SIGNATURE, type WireFake } from './wire-fake.js';

export const openai: WireFake = {
  uses: 'openai',
  provider: KEY,
  model: 'gpt-5',
  read: ({ json: body }) => {
    const messages = listAt(body, 'messages');
    const of = (role: string): unknown[] => messages.filter((one) => at(one, 'role') === role);
    const made = of('assistant').flatMap((message) => listAt(message, 'tool_calls'));
    const calls = made.map((call) => ({
      id: at(call, 'id'),
      name: textAt(call, 'function', 'name'),
      args: JSON.parse(textAt(call, 'function', 'arguments')) as unknown,
    }));
    return {
      system: [...of('system'), ...of('developer')].map((one) => textAt(one, 'content')).join(''),
      text: of('user')
        .map((one) => textAt(one, 'content'))
        .join(''),
      images: of('user')
        .flatMap((one) => listAt(one, 'content'))
        .flatMap((part) => textAt(part, 'image_url', 'url') || [])
        .map((url) => url.replace(/^data:image\/png;base64,/u, '')),
      tools: listAt(body, 'tools').map((tool) => ({
        name: at(tool, 'function', 'name'),
        description: at(tool, 'function', 'description'),
        parameters: at(tool, 'function', 'parameters'),
      })),
      mustCall: at(body, 'tool_choice') === 'required',
      calls: calls.map(({ name, args }) => ({ name, args })),
      results: of('tool').map((one) => ({
        name: nameOf(calls, at(one, 'tool_call_id')),
        text: textAt(one, 'content'),
      })),
      thinks: !['', 'none'].includes(textAt(body, 'reasoning_effort')),
      // This wire demands nothing back.
      state: SIGNATURE,
    };
  },
  answer: ({ thought, text = null, calls = [] }, { json: body }) => {
    const usage = {
      prompt_tokens: PROMPT_TOKENS,
      completion_tokens: COMPLETION_TOKENS,
      total_tokens: PROMPT_TOKENS + COMPLETION_TOKENS,
      prompt_tokens_details: { cached_tokens: TOKENS.cached },
      completion_tokens_details: { reasoning_tokens: TOKENS.thoughts },
    };
    const tool_calls = calls.map(({ name, args }, index) => ({
      index,
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
    const thoughts = thought ? { reasoning_content: thought } : {};
    const head = { id: 'chatcmpl-1', created: 1, model: 'gpt-5' };
    if (at(body, 'stream') !== true) {
      const called = tool_calls.length > 0 ? { tool_calls } : {};
      const message = { role: 'assistant', content: text, ...thoughts, ...called };
      return json({ ...head, choices: [{ index: 0, message, finish_reason }], usage });
    }
    const chunk = (delta: object, finish: string | null = null): object => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    return sse([
      chunk({ role: 'assistant', content: '' }),
      ...(thought ? halves(thought).map((half) => chunk({ reasoning_content: half })) : []),
      ...(text ? halves(text).map((half) => chunk({ content: half })) : []),
      ...tool_calls.map((call) => chunk({ tool_calls: [call] })),
      chunk({}, finish_reason),
      { ...head, choices: [], usage },
      'data: [DONE]\n\n',
    ]);
  },
};
