import type { Bill } from '../../../billing/bill.js';
import { GatewayError, refuseField } from '../../../core/errors.js';
import type { Model } from '../../../core/model.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { OPENAI_BASE } from '../../../pipeline/second-path.js';
import type { ChatCompletionBody } from '../../../schema-types/chat-completion.js';
import type { CompletionsBody } from '../../../schema-types/completions.js';
import type { ChatRequest, AnswerHead, VisibleParts } from '../call.js';
import type { ChatDelta } from '../codec.js';
import type { ChoiceText } from '../usage-report.js';
import type { ChatFormat, ChatStreamWriter } from './format.js';
import { finishReason, openAiUsage } from './openai-answer.js';
import { chatRequest } from './chat-completion.js';
import { COMMON_TEXTS } from './openai-texts.js';
import { repairBody } from './openai-tidy.js';

/** OpenAI's older completions API: one prompt, which a chat model gets as a user message. */
export const completions: ChatFormat = {
  name: 'completions',
  endpoint: spendingEndpoint('completions', 'POST /v1/completions', {
    modality: 'chat',
    format: 'completions',
    also: OPENAI_BASE,
  }),
  description: {
    summary: "Complete a prompt, in OpenAI's older format",
    details: 'With `stream: true` the answer is a stream of events that ends with `[DONE]`.',
    status: 200,
    content: {
      'application/json': 'completions#/$defs/answer',
      'text/event-stream': 'completions#/$defs/chunk',
    },
  },
  repair: repairBody,
  texts: COMMON_TEXTS,
  modelOf: (body) => (body as CompletionsBody).model,
  // The body was validated, and its type is generated from the schema.
  read: (body, model) => completionRequest(body as CompletionsBody, model),
  write: (head, reply, bill) => ({
    ...headOf(head),
    choices: reply.choices.map(({ index, content, finish_reason }) =>
      choiceBody(index, content ?? '', finishReason(finish_reason, false)),
    ),
    usage: openAiUsage(bill, head),
  }),
  stream: (head, visible, { include_usage }) =>
    new CompletionWriter(head, visible, include_usage ?? false),
};

/** Fields of chat completions that this API does not have: they are ignored for every model. */
const OF_CHAT = [
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'top_logprobs',
] as const;

function completionRequest(body: CompletionsBody, model: Model): ChatRequest {
  const { prompt, suffix, echo, best_of, logprobs, ...fields } = body;
  if (suffix) refuseField('suffix', 'is not supported: a chat model writes no text before another');
  if (echo) refuseField('echo', 'is not supported: put the prompt before the text yourself');
  const rest: Record<string, unknown> = fields;
  const ignored = OF_CHAT.filter((name) => Object.hasOwn(rest, name)).map(String);
  for (const name of ignored) delete rest[name];
  // `best_of` equal to `n` selects nothing, so it is not named as ignored.
  if (best_of !== undefined && best_of !== (body.n ?? 1)) ignored.push('best_of');
  if (logprobs !== undefined) ignored.push('logprobs');
  const messages = [{ role: 'user' as const, content: textOfPrompt(prompt) }];
  const request = chatRequest(
    { ...(rest as Partial<ChatCompletionBody>), model: model.id, messages },
    model,
  );
  return { ...request, ignored: [...request.ignored, ...ignored] };
}

function textOfPrompt(prompt: CompletionsBody['prompt']): string {
  if (typeof prompt === 'string') return prompt;
  const [first] = prompt;
  if (typeof first !== 'string') return refuseField('prompt', 'must be text, not tokens');
  return prompt.length === 1
    ? first
    : refuseField('prompt', 'must be one text: send a request for each');
}

function headOf({ id, created, model }: AnswerHead): object {
  return { id: id.replace(/^chatcmpl-/u, 'cmpl-'), object: 'text_completion', created, model };
}

function choiceBody(index: number, text: string, finish_reason: string | null): object {
  return { text, index, logprobs: null, finish_reason };
}

interface CompletionChoice {
  text: string;
  hasFinished: boolean;
}

/** Writes an event for each piece of text, for the end of each choice, and for the usage. */
class CompletionWriter implements ChatStreamWriter {
  hasSpoken = false;
  readonly shows_reasoning = false;
  readonly #head: object;
  readonly #choices = new Map<number, CompletionChoice>();

  constructor(
    private readonly head: AnswerHead,
    private readonly visible: VisibleParts,
    private readonly hasUsage: boolean,
  ) {
    this.#head = headOf(head);
  }

  frame(deltas: readonly ChatDelta[]): string {
    let events = '';
    for (const { index, content, finish_reason } of deltas) {
      if (index === undefined || index >= this.visible.choices) continue;
      const choice = this.#choice(index);
      if (choice.hasFinished) continue;
      if (content) {
        choice.text += content;
        this.hasSpoken = true;
        events += this.#event([choiceBody(index, content, null)]);
      }
      if (finish_reason === undefined) continue;
      choice.hasFinished = true;
      events += this.#event([choiceBody(index, '', finishReason(finish_reason, false))]);
    }
    return events;
  }

  texts(): ChoiceText[] {
    return Array.from(this.#choices, ([index, { text }]) => ({ index, text }));
  }

  end(bill: Bill): string {
    const last = this.hasUsage ? this.#event([], openAiUsage(bill, this.head)) : '';
    return `${last}data: [DONE]\n\n`;
  }

  error(error: GatewayError): string {
    return `data: ${JSON.stringify(error)}\n\n`;
  }

  #choice(index: number): CompletionChoice {
    const known = this.#choices.get(index);
    if (known) return known;
    const fresh: CompletionChoice = { text: '', hasFinished: false };
    this.#choices.set(index, fresh);
    return fresh;
  }

  #event(choices: readonly object[], usage: object | null = null): string {
    const tail = this.hasUsage ? { usage } : {};
    return `data: ${JSON.stringify({ ...this.#head, choices, ...tail })}\n\n`;
  }
}
