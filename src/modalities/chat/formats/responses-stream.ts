import type { Bill } from '../../../billing/bill.js';
import type { ErrorCode, GatewayError } from '../../../core/errors.js';
import type { FailedRequest } from '../../../pipeline/stage.js';
import type {
  Annotation,
  ChatDelta,
  HostedPart,
  ReasoningDetail,
  ToolCall,
  ToolCallFragment,
} from '../codec.js';
import type { ChatRequest, ClientTools, AnswerHead, VisibleParts } from '../call.js';
import { CustomInput } from './custom-input.js';
import { hostedItem } from './hosted-search.js';
import { EventWriter, namedEvent } from './openai-answer.js';
import {
  withLastStatus,
  callItem,
  compactionItem,
  responseStatus,
  itemId,
  logprobsOf,
  messageItem,
  reasoningItem,
  response,
  splitDetails,
  summaryPart,
  contentPart,
  flatAnnotation,
  type ResponseStatus,
  type Item,
  type ResponseBase,
} from './responses-items.js';

/** Error codes at which clients report the failure to their user and do not retry. */
const CODES: Partial<Record<ErrorCode, string>> = {
  context_length_exceeded: 'context_length_exceeded',
  content_policy_violation: 'invalid_prompt',
  insufficient_balance: 'insufficient_quota',
  key_limit_reached: 'insufficient_quota',
  allowance_reached: 'insufficient_quota',
  upstream_error: 'server_is_overloaded',
  overloaded: 'server_is_overloaded',
  draining: 'server_is_overloaded',
  internal_error: 'server_is_overloaded',
};

const SEARCH_STEPS = ['in_progress', 'searching', 'completed'] as const;

type Open =
  | {
      kind: 'message';
      id: string;
      text: string;
      is_refusal: boolean;
      logprobs: unknown[];
      annotations: Annotation[];
    }
  | { kind: 'reasoning'; id: string; text: string; details: ReasoningDetail[] }
  | { kind: 'call'; id: string; call: ToolCall; index: number; input: CustomInput };

/**
 * Writes deltas as events of the Responses API: items one after another, each added, filled and
 * done, then the whole answer again.
 */
export class ResponsesWriter extends EventWriter {
  readonly in_turn = true;
  readonly #base: ResponseBase;
  readonly #tools: ClientTools | undefined;
  #sequence = 0;
  #output: Item[] = [];
  #open: Open | undefined;
  #calls = 0;
  #finish: string | undefined;

  constructor(
    private readonly head: AnswerHead,
    visible: VisibleParts,
    { tools, echo }: Pick<ChatRequest, 'tools' | 'echo'>,
  ) {
    super(visible);
    this.#tools = tools;
    this.#base = { head, echo };
  }

  end({ usage }: Bill): string {
    const ending = responseStatus(this.#finish, this.#calls > 0);
    const events = this.begin() + this.#close(ending.status);
    const complete = response(this.#base, this.#output, ending, usage);
    return events + this.#event(`response.${ending.status}`, { response: complete });
  }

  protected writeError({ code, message }: GatewayError): string {
    const failed = response(this.#base, this.#output, { status: 'failed' }, null);
    const error = { code: CODES[code] ?? 'invalid_prompt', message };
    return this.begin() + this.#event('response.failed', { response: { ...failed, error } });
  }

  #event(type: string, data: object): string {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return namedEvent(type, { sequence_number, ...data });
  }

  protected override begin(): string {
    if (this.#sequence > 0) return '';
    const begun = response(this.#base, [], { status: 'in_progress' }, null);
    return (
      this.#event('response.created', { response: begun }) +
      this.#event('response.in_progress', { response: begun })
    );
  }

  protected writeDelta(delta: ChatDelta): string {
    const { content, reasoning_content, reasoning_details, tool_calls, finish_reason } = delta;
    let events = '';
    if (this.visible.reasoning) {
      if (reasoning_content) events += this.#think(reasoning_content);
      const [details, compactions] = splitDetails(reasoning_details);
      if (details.length > 0) events += this.#keep(details);
      for (const one of compactions) events += this.#compact(one);
    }
    if (this.visible.tools) for (const part of delta.hosted_parts ?? []) events += this.#host(part);
    if (content) events += this.#writeText(content, delta);
    for (const annotation of delta.annotations ?? []) events += this.#cite(annotation);
    if (this.visible.tools) for (const call of tool_calls ?? []) events += this.#callOn(call);
    if (finish_reason !== undefined) this.#finish = finish_reason;
    return events;
  }

  #writeText(text: string, delta: ChatDelta): string {
    this.delivered(text);
    const is_refusal = delta.is_refusal === true;
    const logprobs = this.visible.logprobs ? logprobsOf(delta.logprobs) : [];
    let events = '';
    let open = this.#open;
    if (open?.kind !== 'message' || open.is_refusal !== is_refusal) {
      events = this.#close();
      const lists = { logprobs: [], annotations: [] };
      open = { kind: 'message', id: this.#id('msg'), text: '', is_refusal, ...lists };
      this.#open = open;
      const item = { ...messageItem(open.id, open), status: 'in_progress', content: [] };
      events += this.#added(item);
      events += this.#inItem('response.content_part.added', {
        content_index: 0,
        part: contentPart(open),
      });
    }
    open.text += text;
    for (const logprob of logprobs) open.logprobs.push(logprob);
    const data = { content_index: 0, delta: text };
    return is_refusal
      ? events + this.#inItem('response.refusal.delta', data)
      : events + this.#inItem('response.output_text.delta', { ...data, logprobs });
  }

  /** The item of a tool that the upstream has run. */
  #host(part: HostedPart): string {
    const events = this.#close();
    const item = hostedItem(part, this.#id('ws')) as Item | undefined;
    if (!item) return events;
    const output_index = this.#output.length;
    const begun = this.#added({ ...item, status: 'in_progress' });
    const steps = item.type === 'web_search_call' ? SEARCH_STEPS : [];
    const done = steps.map((step) =>
      this.#event(`response.web_search_call.${step}`, { item_id: item.id, output_index }),
    );
    const ended = this.#event('response.output_item.done', { output_index, item });
    this.#output.push(item);
    return events + begun + done.join('') + ended;
  }

  /** A source of the open message. Its place is within the text of the whole answer. */
  #cite(annotation: Annotation): string {
    const open = this.#open;
    if (open?.kind !== 'message') return '';
    open.annotations.push(annotation);
    return this.#inItem('response.output_text.annotation.added', {
      content_index: 0,
      annotation_index: open.annotations.length - 1,
      annotation: flatAnnotation(annotation),
    });
  }

  #think(delta: string): string {
    this.delivered(delta);
    const { open, events } = this.#openReasoning();
    let all = events;
    if (open.text === '') {
      const data = { summary_index: 0, part: summaryPart('') };
      all += this.#inItem('response.reasoning_summary_part.added', data);
    }
    open.text += delta;
    const data = { summary_index: 0, delta };
    return all + this.#inItem('response.reasoning_summary_text.delta', data);
  }

  #keep(details: readonly ReasoningDetail[]): string {
    const { open, events } = this.#openReasoning();
    for (const detail of details) open.details.push(detail);
    return events;
  }

  #compact(detail: ReasoningDetail): string {
    this.delivered('');
    const closed = this.#close();
    const item = compactionItem(this.#id('cmp'), detail);
    const output_index = this.#output.length;
    const added = this.#added(item);
    this.#output.push(item);
    return closed + added + this.#event('response.output_item.done', { output_index, item });
  }

  #openReasoning(): { open: Open & { kind: 'reasoning' }; events: string } {
    if (this.#open?.kind === 'reasoning') return { open: this.#open, events: '' };
    const closed = this.#close();
    const open = { kind: 'reasoning' as const, id: this.#id('rs'), text: '', details: [] };
    this.#open = open;
    return { open, events: closed + this.#added(reasoningItem(open.id, '', [])) };
  }

  #callOn({ index, id = '', function: { name, arguments: args = '' } }: ToolCallFragment): string {
    this.delivered(`${name ?? ''}${args}`);
    let events = '';
    let open = this.#open;
    if (open?.kind !== 'call' || open.index !== index) {
      events = this.#close();
      this.#calls += 1;
      const call: ToolCall = {
        id,
        type: 'function',
        function: { name: name ?? '', arguments: '' },
      };
      open = { kind: 'call', id: this.#id('fc'), call, index, input: new CustomInput() };
      this.#open = open;
      events += this.#added(this.#begunCall(open));
    }
    open.call.function.arguments += args;
    if (!this.#isCustom(open.call)) return events + this.#argumentsDelta(args);
    return events + this.#inputDelta(open.input.add(args));
  }

  #inputDelta(delta: string): string {
    return delta && this.#inItem('response.custom_tool_call_input.delta', { delta });
  }

  #argumentsDelta(delta: string): string {
    return delta && this.#inItem('response.function_call_arguments.delta', { delta });
  }

  #begunCall({ id, call }: Open & { kind: 'call' }): Item {
    const item = { ...callItem(id, call, this.#tools), status: 'in_progress' };
    return { ...item, ...(this.#isCustom(call) ? { input: '' } : { arguments: '' }) };
  }

  #isCustom({ function: { name } }: ToolCall): boolean {
    return this.#tools?.get(name)?.is_custom === true;
  }

  #id(kind: string): string {
    return itemId(kind, this.head, this.#output.length);
  }

  #added(item: Item): string {
    const output_index = this.#output.length;
    return this.#event('response.output_item.added', { output_index, item });
  }

  #inItem(type: string, data: object): string {
    const output_index = this.#output.length;
    return this.#event(type, { item_id: this.#open?.id, output_index, ...data });
  }

  /**
   * Ends the open item. In an incomplete answer a call gets no `done` event: its arguments may be
   * incomplete, and clients run a call as soon as it is done.
   */
  #close(status: ResponseStatus['status'] = 'completed'): string {
    const open = this.#open;
    if (!open) return '';
    const [item] = withLastStatus([this.#itemOf(open)], status) as [Item];
    const output_index = this.#output.length;
    const isDone = status === 'completed' || open.kind !== 'call';
    const events = isDone
      ? this.#doneParts(open, item) +
        this.#event('response.output_item.done', { output_index, item })
      : '';
    this.#open = undefined;
    this.#output.push(item);
    return events;
  }

  #itemOf(open: Open): Item {
    if (open.kind === 'message') return messageItem(open.id, open);
    if (open.kind === 'reasoning') return reasoningItem(open.id, open.text, open.details);
    return callItem(open.id, open.call, this.#tools);
  }

  #doneParts(open: Open, item: Item): string {
    if (open.kind === 'message') {
      const { text, is_refusal, logprobs } = open;
      const done = is_refusal
        ? this.#inItem('response.refusal.done', { content_index: 0, refusal: text })
        : this.#inItem('response.output_text.done', { content_index: 0, text, logprobs });
      const part = contentPart(open);
      return done + this.#inItem('response.content_part.done', { content_index: 0, part });
    }
    if (open.kind === 'reasoning') {
      const { text } = open;
      if (text === '') return '';
      const part = summaryPart(text);
      return (
        this.#inItem('response.reasoning_summary_text.done', { summary_index: 0, text }) +
        this.#inItem('response.reasoning_summary_part.done', { summary_index: 0, part })
      );
    }
    if (this.#isCustom(open.call)) {
      const { input } = item;
      return (
        this.#inputDelta(open.input.rest(String(input))) +
        this.#inItem('response.custom_tool_call_input.done', { input })
      );
    }
    const { name, arguments: args } = item;
    // A call without arguments has an empty object.
    const late = open.call.function.arguments === '' ? this.#argumentsDelta(String(args)) : '';
    return late + this.#inItem('response.function_call_arguments.done', { name, arguments: args });
  }
}

/**
 * An error before the first event, as a whole stream. After an HTTP status, clients retry up to
 * thirty times, each time with a hold and at all upstreams. Undefined for errors that keep their
 * status: the request is wrong, or a retry will succeed, as after a restart.
 */
export function failedStream(
  error: GatewayError,
  { request_id, now_ms, model }: FailedRequest,
): string | undefined {
  if (CODES[error.code] === undefined || error.code === 'draining') return undefined;
  const created = Math.floor(now_ms / 1000);
  const head = { id: request_id, created, model, now: () => now_ms };
  const visible = { choices: 0, tools: false, reasoning: false, logprobs: false };
  return new ResponsesWriter(head, visible, {}).error(error);
}
