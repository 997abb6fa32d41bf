import type { Model } from '../../core/model.js';
import type { ChatCall, ChatReply, ChatChoice } from './codec.js';

/** What every answer and chunk of one completion carries. `created` is in Unix seconds. */
export interface Heading {
  id: string;
  created: number;
  model: string;
}

/** Which parts of an upstream's answer the client gets to see. */
export interface Shown {
  /** How many choices were asked for; an upstream's surplus is dropped. */
  choices: number;
  tools: boolean;
  reasoning: boolean;
  logprobs: boolean;
}

export function shownOf(model: Model, call: ChatCall): Shown {
  return {
    choices: call.n,
    tools: model.capabilities.has('tools'),
    reasoning: model.passthrough.has('reasoning_content'),
    logprobs: model.passthrough.has('logprobs'),
  };
}

/** A reply without what the client is not shown. */
export function visible(reply: ChatReply, shown: Shown): ChatReply {
  const choices = reply.choices
    .filter(({ index }) => index < shown.choices)
    .map((choice) => visibleChoice(choice, shown));
  return { choices, usage: reply.usage };
}

function visibleChoice(choice: ChatChoice, shown: Shown): ChatChoice {
  const { index, content, finish_reason, tool_calls, logprobs } = choice;
  const { reasoning_content, reasoning_details } = choice;
  const seen: ChatChoice = { index, content, finish_reason };
  if (shown.tools && tool_calls?.length) seen.tool_calls = tool_calls;
  if (shown.reasoning && reasoning_content) seen.reasoning_content = reasoning_content;
  if (shown.reasoning && reasoning_details?.length) seen.reasoning_details = reasoning_details;
  if (shown.logprobs && logprobs !== undefined) seen.logprobs = logprobs;
  return seen;
}

/** The text of a reply, choice by choice, for counting its tokens. */
export function textsOf(reply: ChatReply): string[] {
  return reply.choices.map(
    ({ content, reasoning_content, tool_calls }) =>
      `${content ?? ''}${reasoning_content ?? ''}${tool_calls ? JSON.stringify(tool_calls) : ''}`,
  );
}
