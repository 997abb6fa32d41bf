import type { ChatCall, ChatDelta, StreamDecoder } from '../../src/modalities/chat/codec.js';
import type { ServerSentEvent } from '../../src/upstream/sse.js';
import type { Upstream } from '../../src/core/model.js';
import { nextThought } from '../anthropic/decode.js';
import { mergeCounters } from '../../src/lib/counters.js';
import { parseJson } from '../../src/lib/json-text.js';
import { isRecord } from '../../src/lib/objects.js';
import { bedrockUsage, clientCall, countersIn, finishOf, serverCall, tierOf } from './answer.js';
import { broken, exceptionError } from './errors.js';
import { exceptionIn, refuseBroken } from './frames.js';
import { targetOf, type Target } from './model.js';
import { detailsOf } from './reasoning.js';
import { outputTool } from './structured.js';

type Payload = Record<string, unknown>;

/** A block of a tool that is open: a call of the client's, or the answer itself. */
interface OpenTool {
  /** Among the client's calls; undefined where the input is the answer's text. */
  index: number | undefined;
  hasInput: boolean;
}

/** A block of reasoning that is open. */
interface OpenReasoning {
  index: number;
  text: string;
  signature: string;
}

/**
 * Decodes an answer of ConverseStream. The end of the choice is reported at the end of the stream,
 * because usage, and perhaps an exception, arrive after the stop reason.
 */
export function decodeStream(call: ChatCall, upstream: Upstream): StreamDecoder {
  const stream = new ConverseStream(call, upstream);
  return {
    read(events, deltas) {
      for (const event of events) stream.read(event, deltas);
      return false;
    },
    end: (deltas) => stream.end(deltas),
  };
}

class ConverseStream {
  readonly #upstream: Upstream;
  readonly #target: Target;
  readonly #output_tool: string | undefined;
  readonly #tools = new Map<unknown, OpenTool>();
  readonly #reasonings = new Map<unknown, OpenReasoning>();
  #calls = 0;
  #thoughts = 0;
  #hasSpoken = false;
  #counters: Payload | undefined;
  /** The tools that the service has run. */
  readonly #ran: string[] = [];
  #reason: unknown;

  constructor(call: ChatCall, upstream: Upstream) {
    this.#upstream = upstream;
    this.#target = targetOf(upstream);
    this.#output_tool = outputTool(call, upstream);
  }

  read(event: ServerSentEvent, deltas: ChatDelta[]): void {
    refuseBroken(event);
    const exception = exceptionIn(event);
    if (exception !== undefined) {
      throw exceptionError(exception, event.data, this.#upstream.provider);
    }
    switch (event.event) {
      case 'contentBlockStart':
        return this.#start(payloadOf(event), deltas);
      case 'contentBlockDelta':
        return this.#delta(payloadOf(event), deltas);
      case 'contentBlockStop':
        return this.#stop(payloadOf(event).contentBlockIndex, deltas);
      case 'messageStop':
        this.#reason = payloadOf(event).stopReason;
        return;
      case 'metadata': {
        const payload = payloadOf(event);
        const { usage } = payload;
        if (!isRecord(usage)) return;
        this.#counters = mergeCounters(this.#counters, countersIn(usage));
        const beside = { tier: tierOf(payload), ran: this.#ran };
        deltas.push({ usage: bedrockUsage(this.#counters, beside) });
      }
    }
  }

  end(deltas: ChatDelta[]): void {
    this.#endThoughts(undefined, deltas);
    for (const block of this.#tools.keys()) this.#stop(block, deltas);
    if (typeof this.#reason !== 'string') throw broken("The upstream's stream broke off.");
    const finish_reason = finishOf(this.#reason, this.#hasSpoken) ?? 'stop';
    deltas.push({ index: 0, finish_reason });
  }

  /** Only calls of tools have a beginning of their own. */
  #start({ contentBlockIndex: block, start }: Payload, deltas: ChatDelta[]): void {
    this.#endThoughts(block, deltas);
    const toolUse = isRecord(start) ? start.toolUse : undefined;
    const call = clientCall(toolUse);
    const ran = serverCall(toolUse);
    if (ran !== undefined) this.#ran.push(ran);
    if (!call) return;
    this.#hasSpoken = true;
    if (call.name === this.#output_tool) {
      this.#tools.set(block, { index: undefined, hasInput: false });
      return;
    }
    const index = this.#calls;
    this.#calls += 1;
    this.#tools.set(block, { index, hasInput: false });
    const called = { name: call.name, arguments: '' };
    deltas.push({
      index: 0,
      tool_calls: [{ index, id: call.id, type: 'function', function: called }],
    });
  }

  #delta({ contentBlockIndex: block, delta }: Payload, deltas: ChatDelta[]): void {
    if (!isRecord(delta)) return;
    this.#endThoughts(block, deltas);
    const { text, toolUse, reasoningContent } = delta;
    if (typeof text === 'string') this.#say({ content: text }, deltas);
    else if (isRecord(reasoningContent)) this.#think(block, reasoningContent, deltas);
    else if (isRecord(toolUse)) {
      const tool = this.#tools.get(block);
      const { input } = toolUse;
      if (tool && typeof input === 'string' && input !== '') this.#input(tool, input, deltas);
    }
  }

  #say(delta: { content: string }, deltas: ChatDelta[]): void {
    if (delta.content === '') return;
    this.#hasSpoken = true;
    deltas.push({ index: 0, ...delta });
  }

  #input(tool: OpenTool, input: string, deltas: ChatDelta[]): void {
    tool.hasInput = true;
    const { index } = tool;
    if (index === undefined) this.#say({ content: input }, deltas);
    else deltas.push({ index: 0, tool_calls: [{ index, function: { arguments: input } }] });
  }

  /** Ends the blocks of reasoning before another block: not all servers tell their end. */
  #endThoughts(other: unknown, deltas: ChatDelta[]): void {
    for (const block of this.#reasonings.keys()) if (block !== other) this.#stop(block, deltas);
  }

  /** Text at once; reasoning that must come back, once its block has ended. */
  #think(block: unknown, reasoning: Payload, deltas: ChatDelta[]): void {
    const { text, signature, redactedContent: redacted } = reasoning;
    const open = this.#reasoningAt(block);
    if (typeof text === 'string' && text !== '') {
      const isNext = open.text === '' && open.index > 0;
      open.text += text;
      deltas.push({ index: 0, ...(isNext ? nextThought(text) : { reasoning_content: text }) });
    }
    if (typeof signature === 'string') open.signature += signature;
    if (redacted === undefined) return;
    const reasoning_details = detailsOf({ text: '', redacted }, open.index, this.#target);
    if (reasoning_details.length > 0) deltas.push({ index: 0, reasoning_details });
  }

  #reasoningAt(block: unknown): OpenReasoning {
    const known = this.#reasonings.get(block);
    if (known) return known;
    const open = { index: this.#thoughts, text: '', signature: '' };
    this.#thoughts += 1;
    this.#reasonings.set(block, open);
    return open;
  }

  /** A call without arguments has an empty object for them. */
  #stop(block: unknown, deltas: ChatDelta[]): void {
    const thought = this.#reasonings.get(block);
    this.#reasonings.delete(block);
    const reasoning_details = thought ? detailsOf(thought, thought.index, this.#target) : [];
    if (reasoning_details.length > 0) deltas.push({ index: 0, reasoning_details });
    const tool = this.#tools.get(block);
    this.#tools.delete(block);
    if (tool && !tool.hasInput) this.#input(tool, '{}', deltas);
  }
}

function payloadOf({ data }: ServerSentEvent): Payload {
  const payload = data === '' ? {} : parseJson(data);
  if (isRecord(payload)) return payload;
  throw broken('The upstream sent an event that is not a JSON object.');
}
