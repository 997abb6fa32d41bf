import type { ChatCall, ChatDelta, StreamDecoder } from '../../src/modalities/chat/codec.js';
import { isServerToolBlock } from '../../src/core/block-fields.js';
import type { Upstream } from '../../src/core/model.js';
import { mergeCounters } from '../../src/lib/counters.js';
import { parseJson } from '../../src/lib/json-text.js';
import { isRecord, recordsIn } from '../../src/lib/objects.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import type { ServerSentEvent } from '../../src/upstream/sse.js';
import { broken, textOfValue } from '../openai/answer.js';
import { contextOf } from './context.js';
import { citedIn, finishOf, metSequence, nextThought, refusalIn, thoughtOf } from './decode.js';
import { outputTool } from './output.js';
import { detailOf } from './reasoning.js';
import { countersIn, repeats, anthropicUsage } from './usage.js';
import type { ReasoningBlock } from './wire.js';

type Json = Record<string, unknown>;

/** A block of the answer while it arrives. Those of unknown types are skipped. */
type OpenBlock =
  /** `start` counts the characters of text before it. */
  | { kind: 'text'; start: number; citations: unknown[] }
  /** A tool that the API runs itself; its input comes in pieces. */
  | { kind: 'hosted'; block: Json; input: string }
  | { kind: 'thought'; thought: ReasoningBlock }
  /** `index` counts calls alone; undefined where the call's input is the answer's text. */
  | { kind: 'call'; index: number | undefined; input: unknown; hasInput: boolean };

/**
 * Decodes deltas as they arrive. The finish reason follows at the end: it may change. `otherFields`
 * picks further fields of the answer.
 */
export function decodeStream(
  call: ChatCall,
  upstream: Upstream,
  otherFields: (answer: Json) => Json,
): StreamDecoder {
  const stream = new MessageStream(call, upstream, otherFields);
  return {
    read: (packet, deltas) => packet.some((event) => stream.read(event, deltas)),
    end: () => {
      throw broken("The upstream's stream broke off.");
    },
  };
}

class MessageStream {
  readonly #upstream: Upstream;
  readonly #isRepeated: boolean;
  readonly #output_tool: string | undefined;
  readonly #blocks = new Map<unknown, OpenBlock>();
  #message: { id: unknown } | undefined;
  /** The counters that were reported so far. */
  #counters: Json = {};
  /** The last `stop_reason` and `stop_details`. */
  #stop: Json = {};
  #calls = 0;
  #thoughts = 0;
  #characters = 0;
  #hasThought = false;

  constructor(
    call: ChatCall,
    upstream: Upstream,
    private readonly otherFields: (answer: Json) => Json,
  ) {
    this.#upstream = upstream;
    this.#isRepeated = repeats(call, upstream);
    this.#output_tool = outputTool(call, contextOf(upstream).model);
  }

  /** Adds an event. Returns true for the last one. Events of unknown types are skipped. */
  read({ event, data }: ServerSentEvent, deltas: ChatDelta[]): boolean {
    if (data.trim() === '') return false;
    if (event === 'error') throw classifyErrorInside(data, this.#upstream.provider);
    const payload = parse(data);
    switch (payload.type ?? event) {
      case 'error':
        throw classifyErrorInside(payload, this.#upstream.provider);
      case 'message_start':
        this.#begin(recordIn(payload.message), deltas);
        return false;
      case 'content_block_start':
        this.#open(payload.index, recordIn(payload.content_block), deltas);
        return false;
      case 'content_block_delta':
        this.#add(this.#blocks.get(payload.index), recordIn(payload.delta), deltas);
        return false;
      case 'content_block_stop':
        this.#close(this.#blocks.get(payload.index), deltas);
        this.#blocks.delete(payload.index);
        return false;
      case 'message_delta':
        this.#count(payload.usage, deltas);
        this.#stop = { ...this.#stop, ...known(recordIn(payload.delta)) };
        this.#carry(recordIn(payload.delta), deltas);
        this.#carry(payload, deltas, { are_beside: true });
        return false;
      case 'message_stop':
        this.#finish(deltas);
        return true;
      default:
        return false;
    }
  }

  /** A second start of the same message is noise; another message's belongs to another stream. */
  #begin(message: Json, deltas: ChatDelta[]): void {
    if (this.#message) {
      if (this.#message.id === message.id) return;
      throw broken("The upstream's stream holds parts of another answer.");
    }
    this.#message = { id: message.id };
    this.#count(message.usage, deltas);
    this.#stop = known(message);
    this.#carry(message, deltas);
    recordsIn(message.content).forEach((block, index) => {
      this.#open(`given ${index}`, block, deltas);
    });
  }

  #carry(answer: Json, deltas: ChatDelta[], where?: Pick<ChatDelta, 'are_beside'>): void {
    const { delta: _, ...others } = this.otherFields(answer);
    if (Object.keys(others).length > 0) deltas.push({ others, ...where });
  }

  #count(reported: unknown, deltas: ChatDelta[]): void {
    if (!this.#message || !isRecord(reported)) return;
    this.#counters = mergeCounters(this.#counters, countersIn(reported));
    const usage = anthropicUsage(this.#counters, this.#isRepeated);
    if (usage) deltas.push({ usage });
  }

  #open(index: unknown, block: Json, deltas: ChatDelta[]): void {
    const opened = this.#openBlock(block, deltas);
    if (opened) this.#blocks.set(index, opened);
    else this.#blocks.delete(index);
  }

  #openBlock(block: Json, deltas: ChatDelta[]): OpenBlock | undefined {
    if (block.type === 'text') {
      const start = this.#characters;
      this.#say(textOfValue(block.text), deltas);
      return { kind: 'text', start, citations: recordsIn(block.citations) };
    }
    if (isServerToolBlock(block)) return { kind: 'hosted', block, input: '' };
    if (block.type === 'tool_use') return this.#openCall(block, deltas);
    const thought = thoughtOf(block);
    if (!thought) return undefined;
    if (thought.type === 'thinking') this.#think(thought.thinking, true, deltas);
    return { kind: 'thought', thought };
  }

  #openCall({ id, name, input }: Json, deltas: ChatDelta[]): OpenBlock {
    if (name === this.#output_tool) {
      return { kind: 'call', index: undefined, input, hasInput: false };
    }
    const index = this.#calls;
    this.#calls += 1;
    const call = { name: textOfValue(name), arguments: '' };
    const fragment = { index, id: textOfValue(id), type: 'function' as const, function: call };
    deltas.push({ index: 0, tool_calls: [fragment] });
    return { kind: 'call', index, input, hasInput: false };
  }

  #add(block: OpenBlock | undefined, delta: Json, deltas: ChatDelta[]): void {
    switch (block?.kind) {
      case 'text':
        if (delta.type === 'text_delta') this.#say(textOfValue(delta.text), deltas);
        else if (delta.type === 'citations_delta') block.citations.push(delta.citation);
        return;
      case 'hosted':
        if (delta.type === 'input_json_delta') block.input += textOfValue(delta.partial_json);
        return;
      case 'thought':
        if (block.thought.type !== 'thinking') return;
        if (delta.type === 'thinking_delta') {
          const text = textOfValue(delta.thinking);
          this.#think(text, block.thought.thinking === '', deltas);
          block.thought.thinking += text;
        } else if (delta.type === 'signature_delta') {
          block.thought.signature += textOfValue(delta.signature);
        }
        return;
      case 'call':
        if (delta.type === 'input_json_delta') {
          this.#argue(block, textOfValue(delta.partial_json), deltas);
        }
    }
  }

  #say(content: string, deltas: ChatDelta[]): void {
    if (content === '') return;
    this.#characters += content.length;
    deltas.push({ index: 0, content });
  }

  #think(text: string, isFirst: boolean, deltas: ChatDelta[]): void {
    if (text === '') return;
    const isNext = isFirst && this.#hasThought;
    this.#hasThought = true;
    deltas.push({ index: 0, ...(isNext ? nextThought(text) : { reasoning_content: text }) });
  }

  #argue(block: OpenBlock & { kind: 'call' }, text: string, deltas: ChatDelta[]): void {
    if (text === '') return;
    block.hasInput = true;
    const { index } = block;
    if (index === undefined) this.#say(text, deltas);
    else deltas.push({ index: 0, tool_calls: [{ index, function: { arguments: text } }] });
  }

  /** The end of a thought gives its signature; a call without a word of input has none. */
  #close(block: OpenBlock | undefined, deltas: ChatDelta[]): void {
    if (block?.kind === 'text') {
      const annotations = citedIn(block.citations, block.start, this.#characters);
      if (annotations.length > 0) deltas.push({ index: 0, annotations });
      return;
    }
    if (block?.kind === 'hosted') {
      const input = block.input === '' ? undefined : parseJson(block.input);
      const part = { ...block.block, ...(input !== undefined && { input }) };
      deltas.push({ index: 0, hosted_parts: [{ api: 'messages', part }] });
      return;
    }
    if (block?.kind === 'thought') {
      deltas.push({ index: 0, reasoning_details: [detailOf(block.thought, this.#thoughts)] });
      this.#thoughts += 1;
    } else if (block?.kind === 'call' && !block.hasInput) {
      this.#argue(block, JSON.stringify(recordIn(block.input)), deltas);
    }
  }

  #finish(deltas: ChatDelta[]): void {
    if (!this.#message) throw broken('The upstream ended its stream with no answer.');
    for (const block of this.#blocks.values()) this.#close(block, deltas);
    const refusal = refusalIn(this.#stop);
    if (refusal !== undefined && this.#characters === 0) this.#say(refusal, deltas);
    const finish_reason = finishOf(this.#stop.stop_reason) ?? 'stop';
    deltas.push({ index: 0, finish_reason, ...metSequence(this.#stop) });
  }
}

function parse(data: string): Json {
  const payload = parseJson(data);
  if (payload === undefined) throw broken('The upstream sent an event that is not JSON.');
  if (isRecord(payload)) return payload;
  throw broken('The upstream sent an event that is not a JSON object.');
}

function recordIn(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** The fields that are not null, which means unchanged. */
function known(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
