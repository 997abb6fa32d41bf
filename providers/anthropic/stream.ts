import type { ChatCall, ChatDelta, StreamDecoder } from '../../src/modalities/chat/codec.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord, recordsIn } from '../../src/lib/is-record.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import type { ServerSentEvent } from '../../src/upstream/sse.js';
import { broken } from '../openai/answer.js';
import { contextOf } from './context.js';
import { BETWEEN_THOUGHTS, finishOf, metSequence, refusalIn, textOf, thoughtOf } from './decode.js';
import { outputTool } from './output.js';
import { detailOf } from './reasoning.js';
import { repeats, usageOf } from './usage.js';
import type { ReasoningBlock } from './wire.js';

type Json = Record<string, unknown>;

/** A block of the answer while it arrives: text, a thought or a tool call. Others are skipped. */
type OpenBlock =
  | { kind: 'text' }
  | { kind: 'thought'; thought: ReasoningBlock; isDone: boolean }
  /** `index` counts calls alone; undefined where the call's input is the answer's text. */
  | { kind: 'call'; index: number | undefined; input: unknown; hasInput: boolean };

/** Decodes deltas as they arrive. Usage and finish reason follow at the end: they may change. */
export function decodeStream(call: ChatCall, upstream: Upstream): StreamDecoder {
  const stream = new MessageStream(call, upstream);
  return {
    read: (packet, pieces) => packet.some((event) => stream.read(event, pieces)),
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
  #message: { id: unknown; usage: Json } | undefined;
  /** The last `stop_reason` and `stop_details`. */
  #stop: Json = {};
  #calls = 0;
  #thoughts = 0;
  #hasText = false;
  #hasThought = false;

  constructor(call: ChatCall, upstream: Upstream) {
    this.#upstream = upstream;
    this.#isRepeated = repeats(call, upstream);
    this.#output_tool = outputTool(call, contextOf(upstream).model);
  }

  /** Adds an event. Returns true for the last one. Events of unknown types are skipped. */
  read({ event, data }: ServerSentEvent, pieces: ChatDelta[]): boolean {
    if (data.trim() === '') return false;
    if (event === 'error') throw classifyErrorInside(data, this.#upstream.provider);
    const payload = parse(data);
    switch (payload['type'] ?? event) {
      case 'error':
        throw classifyErrorInside(payload, this.#upstream.provider);
      case 'message_start':
        this.#begin(recordIn(payload['message']), pieces);
        return false;
      case 'content_block_start':
        this.#open(payload['index'], recordIn(payload['content_block']), pieces);
        return false;
      case 'content_block_delta':
        this.#add(this.#blocks.get(payload['index']), recordIn(payload['delta']), pieces);
        return false;
      case 'content_block_stop':
        this.#close(this.#blocks.get(payload['index']), pieces);
        return false;
      case 'message_delta':
        this.#learn(payload['usage']);
        this.#stop = { ...this.#stop, ...known(recordIn(payload['delta'])) };
        return false;
      case 'message_stop':
        this.#finish(pieces);
        return true;
      default:
        return false;
    }
  }

  /** A second start of the same message is noise; another message's belongs to another stream. */
  #begin(message: Json, pieces: ChatDelta[]): void {
    if (this.#message) {
      if (this.#message.id === message['id']) return;
      throw broken("The upstream's stream holds parts of another answer.");
    }
    this.#message = { id: message['id'], usage: {} };
    this.#learn(message['usage']);
    this.#stop = known(message);
    recordsIn(message['content']).forEach((block, index) => {
      this.#open(`given ${index}`, block, pieces);
    });
  }

  #learn(usage: unknown): void {
    if (this.#message && isRecord(usage)) Object.assign(this.#message.usage, known(usage));
  }

  #open(index: unknown, block: Json, pieces: ChatDelta[]): void {
    const opened = this.#openBlock(block, pieces);
    if (opened) this.#blocks.set(index, opened);
    else this.#blocks.delete(index);
  }

  #openBlock(block: Json, pieces: ChatDelta[]): OpenBlock | undefined {
    if (block['type'] === 'text') {
      this.#say(textOf(block['text']), pieces);
      return { kind: 'text' };
    }
    if (block['type'] === 'tool_use') return this.#openCall(block, pieces);
    const thought = thoughtOf(block);
    if (!thought) return undefined;
    if (thought.type === 'thinking') this.#think(thought.thinking, true, pieces);
    return { kind: 'thought', thought, isDone: false };
  }

  #openCall({ id, name, input }: Json, pieces: ChatDelta[]): OpenBlock {
    if (name === this.#output_tool) {
      return { kind: 'call', index: undefined, input, hasInput: false };
    }
    const index = this.#calls;
    this.#calls += 1;
    const call = { name: textOf(name), arguments: '' };
    const fragment = { index, id: textOf(id), type: 'function' as const, function: call };
    pieces.push({ index: 0, tool_calls: [fragment] });
    return { kind: 'call', index, input, hasInput: false };
  }

  #add(block: OpenBlock | undefined, delta: Json, pieces: ChatDelta[]): void {
    switch (block?.kind) {
      case 'text':
        if (delta['type'] === 'text_delta') this.#say(textOf(delta['text']), pieces);
        return;
      case 'thought':
        if (block.thought.type !== 'thinking') return;
        if (delta['type'] === 'thinking_delta') {
          const text = textOf(delta['thinking']);
          this.#think(text, block.thought.thinking === '', pieces);
          block.thought.thinking += text;
        } else if (delta['type'] === 'signature_delta') {
          block.thought.signature += textOf(delta['signature']);
        }
        return;
      case 'call':
        if (delta['type'] === 'input_json_delta') {
          this.#argue(block, textOf(delta['partial_json']), pieces);
        }
    }
  }

  #say(content: string, pieces: ChatDelta[]): void {
    if (content === '') return;
    this.#hasText = true;
    pieces.push({ index: 0, content });
  }

  #think(text: string, isFirst: boolean, pieces: ChatDelta[]): void {
    if (text === '') return;
    const between = isFirst && this.#hasThought ? BETWEEN_THOUGHTS : '';
    this.#hasThought = true;
    pieces.push({ index: 0, reasoning_content: between + text });
  }

  #argue(block: OpenBlock & { kind: 'call' }, text: string, pieces: ChatDelta[]): void {
    if (text === '') return;
    block.hasInput = true;
    const { index } = block;
    if (index === undefined) this.#say(text, pieces);
    else pieces.push({ index: 0, tool_calls: [{ index, function: { arguments: text } }] });
  }

  /** The end of a thought gives its signature; a call without a word of input has none. */
  #close(block: OpenBlock | undefined, pieces: ChatDelta[]): void {
    if (block?.kind === 'thought' && !block.isDone) {
      block.isDone = true;
      pieces.push({ index: 0, reasoning_details: [detailOf(block.thought, this.#thoughts)] });
      this.#thoughts += 1;
    } else if (block?.kind === 'call' && !block.hasInput) {
      this.#argue(block, JSON.stringify(recordIn(block.input)), pieces);
    }
  }

  #finish(pieces: ChatDelta[]): void {
    if (!this.#message) throw broken('The upstream ended its stream with no answer.');
    for (const block of this.#blocks.values()) this.#close(block, pieces);
    const refusal = refusalIn(this.#stop);
    if (refusal !== undefined && !this.#hasText) this.#say(refusal, pieces);
    const finish_reason = finishOf(this.#stop['stop_reason']) ?? 'stop';
    pieces.push({ index: 0, finish_reason, ...metSequence(this.#stop) });
    const usage = usageOf(this.#message.usage, this.#isRepeated);
    if (usage) pieces.push({ usage });
  }
}

function parse(data: string): Json {
  try {
    const payload: unknown = JSON.parse(data);
    if (isRecord(payload)) return payload;
  } catch {
    throw broken('The upstream sent an event that is not JSON.');
  }
  throw broken('The upstream sent an event that is not a JSON object.');
}

function recordIn(value: unknown): Json {
  return isRecord(value) ? value : {};
}

/** The fields that are not null, which means unchanged. */
function known(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
