import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../core/errors.js';
import { NO_TOKENS } from '../../../core/usage.js';
import { COPIES, type RequestMemory } from '../../../http/memory-budget.js';
import { countValues, LARGE_BYTES, parseCounted } from '../../../lib/json-text.js';
import { isRecord } from '../../../lib/objects.js';
import type {
  SocketCall,
  SocketCommand,
  SocketFormat,
  SocketTalk,
  SocketTerms,
} from '../../../pipeline/socket-talk.js';
import { response } from './responses-items.js';
import { itemsUpTo, SocketMemory, type Turn } from './socket-memory.js';

/** OpenAI's WebSocket mode of the Responses API: a `response.create` frame is a turn. */
export const responsesSocket: SocketFormat = { open: (terms) => new ResponsesTalk(terms) };

/** The events that end an answer whose items the next turn may refer to. */
const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);
const MAX_LANE_CHARACTERS = 256;

class ResponsesTalk implements SocketTalk {
  readonly #memory: SocketMemory;

  constructor(private readonly terms: SocketTerms) {
    this.#memory = new SocketMemory(terms.max_bytes, terms.memory);
  }

  read(bytes: Buffer): SocketCommand {
    const frame = this.#parse(bytes);
    const lane = laneOf(frame);
    switch (frame.type) {
      case 'response.create': {
        const waiting = this.terms.memory();
        waiting.take(bytes.length / COPIES);
        const { now } = this.terms;
        return {
          asks: 'call',
          call: new ResponsesCall(frame, { lane, memory: this.#memory, waiting, now }),
        };
      }
      case 'response.cancel': {
        const id = typeof frame.response_id === 'string' ? frame.response_id : undefined;
        return { asks: 'cancel', lane, id };
      }
      // A client tells that it has read an answer.
      case 'response.processed':
        return { asks: 'nothing' };
    }
    const type = JSON.stringify(frame.type ?? null).slice(0, 64);
    const message = `type must be response.create or response.cancel, and is ${type}.`;
    throw new GatewayError('invalid_request', message, { param: 'type' });
  }

  #parse(bytes: Buffer): Record<string, unknown> {
    if (bytes.length > LARGE_BYTES && 'over' in countValues(bytes, this.terms.values)) {
      const message = `A frame may have ${this.terms.values} JSON values, and no deep nesting.`;
      throw new GatewayError('invalid_request', message);
    }
    const frame = parseCounted(bytes.toString('utf8'));
    if (isRecord(frame)) return frame;
    throw new GatewayError('invalid_request', 'A frame must be a JSON object.');
  }

  error(error: GatewayError, lane = ''): string {
    const { status, headers } = error;
    return inLane(JSON.stringify({ type: 'error', status, ...error.toJSON(), headers }), lane);
  }

  close(): void {
    this.#memory.close();
  }
}

function laneOf({ stream_id }: Record<string, unknown>): string {
  if (stream_id === undefined || stream_id === null) return '';
  if (typeof stream_id === 'string' && stream_id !== '' && stream_id.length <= MAX_LANE_CHARACTERS)
    return stream_id;
  const message = `stream_id must be a text of 1 to ${MAX_LANE_CHARACTERS} characters.`;
  throw new GatewayError('invalid_request', message, { param: 'stream_id' });
}

/** Adds the lane to a JSON object without parsing it. */
function inLane(json: string, lane: string): string {
  return lane === '' ? json : `{"stream_id":${JSON.stringify(lane)},${json.slice(1)}`;
}

interface CallParts {
  lane: string;
  memory: SocketMemory;
  /** Counts the frame until its turn begins. */
  waiting: RequestMemory;
  now: () => number;
}

class ResponsesCall implements SocketCall {
  readonly lane: string;
  isDone = false;
  #frame: Record<string, unknown> | undefined;
  #earlier: Turn | undefined;
  /** The items that the client adds, as JSON with commas between them. */
  #items = '';
  #begun: Record<string, unknown> | undefined;

  constructor(
    frame: Record<string, unknown>,
    private readonly parts: CallParts,
  ) {
    this.lane = parts.lane;
    this.#frame = frame;
  }

  get id(): string | undefined {
    const id = this.#begun?.id;
    return typeof id === 'string' ? id : undefined;
  }

  begin(): { body: string } | { frames: readonly string[] } {
    const {
      type: _type,
      stream_id: _lane,
      generate,
      previous_response_id: previous,
      input,
      ...rest
    } = this.#frame ?? {};
    this.#frame = undefined;
    this.parts.waiting.close();
    if (typeof previous === 'string') this.#earlier = this.#remembered(previous);
    const isText = typeof input === 'string';
    const items: unknown = isText ? [{ type: 'message', role: 'user', content: input }] : input;
    if (!Array.isArray(items) && !(items === undefined && this.#earlier)) {
      // The schema of the API refuses it.
      return { body: JSON.stringify({ ...rest, input, stream: true }) };
    }
    this.#items = Array.isArray(items) ? JSON.stringify(items).slice(1, -1) : '';
    if (generate === false) return { frames: this.#warmUp(rest.model) };
    const all = [...itemsUpTo(this.#earlier), ...(this.#items === '' ? [] : [this.#items])];
    const head = JSON.stringify({ ...rest, stream: true }).slice(0, -1);
    return { body: `${head},"input":[${all.join(',')}]}` };
  }

  #remembered(id: string): Turn {
    const turn = this.parts.memory.hold(id);
    if (turn) return turn;
    const message =
      `Previous response with id ${JSON.stringify(id.slice(0, 64))} not found on this socket: ` +
      'send the whole conversation without previous_response_id.';
    throw new GatewayError('previous_response_not_found', message, {
      param: 'previous_response_id',
    });
  }

  /** A turn that only brings items: nothing is sent to an upstream, and nothing is charged. */
  #warmUp(model: unknown): readonly string[] {
    const created = Math.floor(this.parts.now() / 1000);
    const head = {
      id: randomUUID(),
      created,
      model: typeof model === 'string' ? model : '',
      now: this.parts.now,
    };
    const ending = { status: 'completed', incomplete_details: null } as const;
    const begun = response({ head, echo: {} }, [], { status: 'in_progress' }, null);
    const done = response({ head, echo: {} }, [], ending, NO_TOKENS);
    const events = [
      { type: 'response.created', sequence_number: 0, response: begun },
      { type: 'response.completed', sequence_number: 1, response: done },
    ];
    return events.map((event) => this.frame(event.type, JSON.stringify(event)));
  }

  frame(event: string | undefined, data: string): string {
    if (event === 'response.created') this.#begun = responseIn(data);
    if (ENDS.has(event)) {
      const { id, output } = responseIn(data) ?? {};
      const items = JSON.stringify(Array.isArray(output) ? output : []).slice(1, -1);
      const all = [this.#items, items].filter((text) => text !== '').join(',');
      if (typeof id === 'string') this.parts.memory.remember(id, all, this.#earlier);
    }
    this.isDone ||= ENDS.has(event) || event === 'response.failed';
    return inLane(data, this.lane);
  }

  refusal(status: number, headers: Readonly<Record<string, string>>, body: string): string {
    this.isDone = true;
    const told = parseCounted(body);
    const error = isRecord(told) ? told.error : { message: body, type: '', code: '', param: null };
    return inLane(JSON.stringify({ type: 'error', status, error, headers }), this.lane);
  }

  cancelled(): string {
    const answer = { ...this.#begun, status: 'cancelled' };
    return inLane(JSON.stringify({ type: 'response.cancelled', response: answer }), this.lane);
  }

  close(): void {
    this.parts.waiting.close();
    this.parts.memory.release(this.#earlier);
    this.#earlier = undefined;
  }
}

function responseIn(data: string): Record<string, unknown> | undefined {
  const event = parseCounted(data);
  return isRecord(event) && isRecord(event.response) ? event.response : undefined;
}
