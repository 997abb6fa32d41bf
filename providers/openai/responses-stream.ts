import type { Provider } from '../../src/core/provider.js';
import { parseJson } from '../../src/lib/json-text.js';
import { isRecord } from '../../src/lib/objects.js';
import type {
  ChatDelta,
  StreamDecoder,
  ToolCallFragment,
} from '../../src/modalities/chat/codec.js';
import { classifyErrorInside } from '../../src/upstream/classify-error.js';
import type { ServerSentEvent } from '../../src/upstream/sse.js';
import { broken, isIndex, textOfValue } from './answer.js';
import { BEGIN, END } from './custom-tools.js';
import {
  BETWEEN,
  callIn,
  citedIn,
  finishIn,
  isHostedItem,
  messageIn,
  stateIn,
  usageOfResponse,
} from './responses-answer.js';

type WireObject = Record<string, unknown>;

/** One item of an answer, from its first event on. */
interface OpenItem {
  kind: 'message' | 'reasoning' | 'function' | 'custom' | 'other';
  /** The index of a call among the calls. */
  call: number;
  /** Whether the ID and the name of a call have come. */
  is_named: boolean;
  /** Whether any text of the item has come. */
  has_text: boolean;
  /** The characters of content before the item's text. */
  start: number;
  /** The part of a summary that was written last. */
  part: unknown;
  is_done: boolean;
}

const KINDS: ReadonlyMap<unknown, OpenItem['kind']> = new Map<unknown, OpenItem['kind']>([
  ['message', 'message'],
  ['reasoning', 'reasoning'],
  ['function_call', 'function'],
  ['custom_tool_call', 'custom'],
]);

/** Decodes the events of one streamed answer of the Responses API. */
export class ResponseStream implements StreamDecoder {
  /** By the index in the output, or by the ID where a server counts none. */
  readonly #items = new Map<number | string, OpenItem>();
  #calls = 0;
  #has_begun = false;
  /** Whether there was text, or reasoning, from which the next one must be parted. */
  readonly #said = { text: false, reasoning: false };
  #deltas: ChatDelta[] = [];
  /** The characters of the content so far. */
  #characters = 0;
  /** The items of tools that the server has run. */
  readonly #ran: WireObject[] = [];

  constructor(private readonly provider: Provider) {}

  read(events: readonly ServerSentEvent[], deltas: ChatDelta[]): boolean {
    this.#deltas = deltas;
    return events.some(({ data }) => data.trim() !== '' && this.#read(parse(data)));
  }

  end(): never {
    throw broken(
      this.#has_begun
        ? "The upstream's stream broke off."
        : 'The upstream ended its stream with no answer.',
    );
  }

  /** Adds the deltas of an event. Returns true for the last event of an answer. */
  #read(event: WireObject): boolean {
    this.#has_begun = true;
    const { type, response } = event;
    if (type === 'error')
      throw classifyErrorInside(isRecord(event.error) ? event : { error: event }, this.provider);
    if (isRecord(response)) this.#count(response);
    if (type === 'response.completed' || type === 'response.incomplete') {
      this.#close(isRecord(response) ? response : {});
      return true;
    }
    if (type === 'response.failed') this.#fail(isRecord(response) ? response : {});
    const whole = isRecord(event.item) ? event.item : {};
    const index = isIndex(event.output_index)
      ? event.output_index
      : textOfValue(event.item_id) || textOfValue(whole.id);
    if (type === 'response.output_item.added') this.#open(whole, index);
    else if (type === 'response.output_item.done') this.#done(whole, index);
    else this.#add(event, this.#items.get(index));
    return false;
  }

  #open({ type, name, call_id }: WireObject, index: number | string): OpenItem {
    const kind = KINDS.get(type) ?? 'other';
    const call = this.#calls;
    const is_named = textOfValue(name) !== '' && textOfValue(call_id) !== '';
    const none = { has_text: false, start: 0, part: undefined, is_done: false };
    const item: OpenItem = { kind, call, is_named, ...none };
    this.#items.set(index, item);
    if (kind !== 'function' && kind !== 'custom') return item;
    this.#calls += 1;
    const called = { name: textOfValue(name), arguments: kind === 'custom' ? BEGIN : '' };
    this.#push({ index: call, id: textOfValue(call_id), type: 'function', function: called });
    return item;
  }

  #add({ type, delta, summary_index }: WireObject, item: OpenItem | undefined): void {
    const text = textOfValue(delta);
    if (!item || text === '') return;
    if (type === 'response.output_text.delta') this.#speak(item, text, false);
    else if (type === 'response.refusal.delta') this.#speak(item, text, true);
    else if (type === 'response.reasoning_summary_text.delta') {
      this.#think(item, text, summary_index);
    } else if (type === 'response.reasoning_text.delta') this.#think(item, text, 'text');
    else if (type === 'response.function_call_arguments.delta') this.#argue(item, text);
    else if (type === 'response.custom_tool_call_input.delta') {
      this.#argue(item, JSON.stringify(text).slice(1, -1));
    }
  }

  /** Adds the parts of an item that did not come as deltas. */
  #done(whole: WireObject, index: number | string): void {
    const item = this.#items.get(index) ?? this.#open(whole, index);
    if (item.is_done) return;
    item.is_done = true;
    if (item.kind === 'other') this.#ran.push(whole);
    if (isHostedItem(whole)) {
      this.#deltas.push({ index: 0, hosted_parts: [{ api: 'responses', part: whole }] });
    }
    const details = stateIn(whole, isIndex(index) ? index : this.#items.size, this.provider);
    if (details.length > 0) this.#deltas.push({ index: 0, reasoning_details: details });
    const { text, is_refusal } = messageIn(whole);
    if (item.kind === 'message' && !item.has_text && text) this.#speak(item, text, is_refusal);
    const annotations = item.kind === 'message' ? citedIn(whole, item.start) : [];
    if (annotations.length > 0) this.#deltas.push({ index: 0, annotations });
    const called = callIn(whole);
    if (called && !item.is_named) {
      const { id, function: named } = called;
      this.#push({ index: item.call, id, function: { name: named.name } });
    }
    const args = called?.function.arguments ?? '';
    if (item.kind === 'function' && !item.has_text) this.#argue(item, args);
    // The input's end is the end of its arguments.
    if (item.kind === 'custom') this.#argue(item, item.has_text ? END : args.slice(BEGIN.length));
  }

  #speak(item: OpenItem, text: string, is_refusal: boolean): void {
    const content = this.#said.text && !item.has_text ? BETWEEN + text : text;
    if (!item.has_text) item.start = this.#characters + content.length - text.length;
    this.#characters += content.length;
    item.has_text = true;
    this.#said.text = true;
    this.#deltas.push({ index: 0, content, ...(is_refusal && { is_refusal }) });
  }

  #think(item: OpenItem, text: string, part: unknown): void {
    const isNew = !item.has_text || item.part !== part;
    const reasoning_content = this.#said.reasoning && isNew ? BETWEEN + text : text;
    item.has_text = true;
    item.part = part;
    this.#said.reasoning = true;
    this.#deltas.push({ index: 0, reasoning_content });
  }

  #argue(item: OpenItem, text: string): void {
    item.has_text = true;
    if (text !== '') this.#push({ index: item.call, function: { arguments: text } });
  }

  #push(fragment: ToolCallFragment): void {
    this.#deltas.push({ index: 0, tool_calls: [fragment] });
  }

  #close(response: WireObject): void {
    // An answer that was cut off may have left the input of a call open.
    for (const item of this.#items.values()) {
      if (item.kind === 'custom' && !item.is_done) this.#argue(item, END);
    }
    const finish_reason = finishIn(response, this.#calls > 0);
    this.#deltas.push({ index: 0, finish_reason });
  }

  #fail(response: WireObject): never {
    if (isRecord(response.error)) throw classifyErrorInside(response, this.provider);
    throw broken('The upstream failed while it was answering.');
  }

  #count(response: WireObject): void {
    const read = usageOfResponse(response, this.#ran);
    if (read) this.#deltas.push({ usage: read });
  }
}

function parse(data: string): WireObject {
  // The older wire ends with this line, and some servers of the newer one do too.
  if (data.trim() === '[DONE]') return {};
  const event = parseJson(data);
  if (isRecord(event)) return event;
  throw broken('The upstream sent an event that is not a JSON object.');
}
