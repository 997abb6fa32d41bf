import { sse, type Step } from '../../../../../helpers/upstream.js';
import { at, COMPLETION_TOKENS, halves, listAt, textAt, TOKENS } from '../conversation-parts.js';
import { json, KEY, nameOf, SIGNATURE, type WireFake } from './wire-fake.js';

function claudeUsage(): object {
  return {
    input_tokens: TOKENS.fresh,
    cache_read_input_tokens: TOKENS.cached,
    output_tokens: COMPLETION_TOKENS,
  };
}

function claudeEvents(content: readonly Record<string, unknown>[], stop_reason: string): Step {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'c', content: [] };
  const blocks = content.flatMap(({ type, text, thinking, signature, input, ...rest }, index) => {
    const deltas = {
      text: [{ type: 'text_delta', text }],
      thinking: [
        ...halves(String(thinking)).map((half) => ({ type: 'thinking_delta', thinking: half })),
        { type: 'signature_delta', signature },
      ],
      tool_use: halves(JSON.stringify(input ?? {})).map((half) => ({
        type: 'input_json_delta',
        partial_json: half,
      })),
    }[String(type)];
    const empty = { text: { text: '' }, thinking: { thinking: '', signature: '' } }[String(type)];
    const content_block = { type, ...rest, ...(empty ?? { input: {} }) };
    return [
      { type: 'content_block_start', index, content_block },
      ...(deltas ?? []).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  const events = [
    { type: 'message_start', message: { ...message, usage: claudeUsage() } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: COMPLETION_TOKENS } },
    { type: 'message_stop' },
  ];
  return sse(events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`));
}

export const anthropic: WireFake = {
  uses: 'anthropic',
  provider: KEY,
  model: 'claude-sonnet-4-5',
  read: ({ json: body }) => {
    const blocks = listAt(body, 'messages').flatMap((turn) => listAt(turn, 'content'));
    const of = (type: string): unknown[] => blocks.filter((block) => at(block, 'type') === type);
    const calls = of('tool_use').map((block) => ({
      id: at(block, 'id'),
      name: textAt(block, 'name'),
      args: at(block, 'input'),
    }));
    return {
      system: textAt(body, 'system'),
      text: of('text')
        .map((block) => textAt(block, 'text'))
        .join(''),
      images: of('image').map((block) => textAt(block, 'source', 'data')),
      tools: listAt(body, 'tools').map((tool) => ({
        name: at(tool, 'name'),
        description: at(tool, 'description'),
        parameters: at(tool, 'input_schema'),
      })),
      mustCall: at(body, 'tool_choice', 'type') === 'any',
      calls: calls.map(({ name, args }) => ({ name, args })),
      results: of('tool_result').map((block) => ({
        name: nameOf(calls, at(block, 'tool_use_id')),
        text: textAt(block, 'content'),
      })),
      thinks: ['enabled', 'adaptive'].includes(textAt(body, 'thinking', 'type')),
      state: at(of('thinking')[0], 'signature'),
    };
  },
  answer: ({ thought, text, calls = [] }, { path, json: body }) => {
    const content = [
      ...(thought ? [{ type: 'thinking', thinking: thought, signature: SIGNATURE }] : []),
      ...(text ? [{ type: 'text', text }] : []),
      ...calls.map(({ name, args }, index) => {
        return { type: 'tool_use', id: `toolu_${index}`, name, input: args };
      }),
    ];
    const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
    const streams = at(body, 'stream') === true || path.endsWith(':streamRawPredict');
    if (streams) return claudeEvents(content, stop_reason);
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'c' };
    return json({ ...head, content, stop_reason, usage: claudeUsage() });
  },
};
