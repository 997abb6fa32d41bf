import { expect } from 'chai';
import { chat, chunksOf, completionOf, type Answer } from './ask.js';
import type { TestGateway } from './gateway.js';

export interface Call {
  id: string;
  type: string;
  function: { name: string; arguments: string };
}

/** What an assistant said, as a client keeps it and sends it back. */
export interface Said {
  role: 'assistant';
  content: string | null;
  reasoning_content?: string;
  reasoning_details?: object[];
  tool_calls?: Call[];
}

type Delta = Partial<Omit<Said, 'tool_calls'>> & { tool_calls?: (Call & { index: number })[] };

/** The deltas of a stream as one message, as clients of OpenAI join them. */
export function joined(deltas: readonly object[]): Said {
  const said: Said = { role: 'assistant', content: null };
  for (const delta of deltas as readonly Delta[]) {
    const { content, reasoning_content, reasoning_details = [], tool_calls = [] } = delta;
    if (content) said.content = (said.content ?? '') + content;
    if (reasoning_content) {
      said.reasoning_content = (said.reasoning_content ?? '') + reasoning_content;
    }
    for (const detail of reasoning_details) (said.reasoning_details ??= []).push(detail);
    for (const { index, ...call } of tool_calls) {
      const calls = (said.tool_calls ??= []);
      const known = calls[index];
      if (known) known.function.arguments += call.function.arguments;
      else calls[index] = call;
    }
  }
  return said;
}

/** The one message of an answer that must be good, streamed or whole. */
export function saidIn(answer: Answer): Said {
  expect(answer.status, answer.text).to.equal(200);
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    return joined(chunksOf(answer).flatMap(({ choices }) => choices.map(({ delta }) => delta)));
  }
  return completionOf(answer).choices[0]?.message as Said;
}

/**
 * Talks to a model until it calls no tool any more: `run` gives the result of each call. `messages`
 * grow by all that is said.
 */
export async function talk(
  gateway: TestGateway,
  body: object,
  messages: object[],
  run: (call: Call) => string,
): Promise<Said[]> {
  const turns: Said[] = [];
  for (;;) {
    const said = saidIn(await chat(gateway, { ...body, messages }));
    turns.push(said);
    messages.push(said);
    if (!said.tool_calls) return turns;
    for (const call of said.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: run(call) });
    }
  }
}
