import type { ClientRequest, IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Logger } from 'pino';
import type { RawData, WebSocket } from 'ws';
import { GatewayError } from '../core/errors.js';
import type { OwnExchange } from '../http/own-connection.js';
import { endToEnd } from '../http/upgrade.js';
import type { SocketCall, SocketTalk } from '../pipeline/socket-talk.js';
import { codeOf } from '../store/retry.js';

/** The turns that run at once on one socket, and those that wait behind them. */
const MAX_LANES = 16;
const MAX_WAITING = 64;
/** So many bytes may wait for a client before its upstream, and its frames, are read no further. */
const HIGH_WATER_BYTES = 64 * 1024;
/** Clients connect again after this code (RFC 6455, and the registry of close codes). */
const SERVICE_RESTART = 1012;
const POLICY_VIOLATION = 1008;
/** How long a client may take to answer that the socket closes. */
const CLOSE_MS = 2_000;

export interface SessionTerms {
  age_ms: number;
  /** How often a silent client is asked whether it is still there. */
  ping_ms: number;
  /** How long it may read or answer nothing. */
  client_ms: number;
  /** Sends a turn as a request of its own, with the headers of the handshake. */
  send: (body: string) => OwnExchange;
  log: Pick<Logger, 'error'>;
}

interface Lane {
  running: SocketCall;
  /** The request of the turn that runs; undefined where it needs none. */
  sent?: ClientRequest | undefined;
  is_cancelled?: boolean;
  readonly waiting: SocketCall[];
}

/**
 * One WebSocket of a client. Each turn is a request of its own, so that keys, limits, holds and
 * charges are those of HTTP: a turn that is cancelled, or whose socket closes, is a client who
 * leaves. Turns of one lane follow each other, and lanes run at once.
 */
export class SocketSession {
  readonly #lanes = new Map<string, Lane>();
  readonly #timers: NodeJS.Timeout[];
  /** Why the socket takes no further turn; it closes after those that run. */
  #leaving: GatewayError | undefined;
  #asked_at: number | undefined;

  constructor(
    private readonly ws: WebSocket,
    private readonly talk: SocketTalk,
    private readonly terms: SessionTerms,
  ) {
    const { age_ms, ping_ms } = terms;
    this.#timers = [
      setTimeout(() => this.retire(tooOld()), age_ms),
      setInterval(() => this.#ping(), ping_ms),
    ];
    ws.on('message', (data, is_binary) => {
      this.#take(data, is_binary);
      this.#holdBack();
    });
    // Each is answered by a pong.
    ws.on('ping', () => this.#holdBack());
    ws.on('pong', () => (this.#asked_at = undefined));
    // A fault of its frames: `close` follows.
    ws.on('error', () => undefined);
    ws.on('close', () => this.#end());
  }

  /** Takes no further turn, and closes as soon as none runs: the client connects again. */
  retire(reason?: GatewayError): void {
    this.#leaving ??= reason ?? tooOld();
    for (const { waiting } of this.#lanes.values()) {
      for (const call of waiting.splice(0)) this.#refuse(this.#leaving, call);
    }
    if (this.#lanes.size > 0) return;
    if (reason) this.#say(this.talk.error(reason));
    this.#close(SERVICE_RESTART);
  }

  #take(data: RawData, is_binary: boolean): void {
    try {
      // Frames that came with the one at which the socket was closed.
      if (this.ws.readyState !== this.ws.OPEN) return;
      if (is_binary) throw new GatewayError('invalid_request', 'A frame must be text.');
      const command = this.talk.read(data as Buffer);
      if (command.asks === 'call') this.#enter(command.call);
      if (command.asks === 'cancel') this.#cancel(command.lane, command.id);
    } catch (error) {
      this.#say(this.talk.error(this.#publicError(error)));
    }
  }

  #enter(call: SocketCall): void {
    if (this.#leaving) return this.#refuse(this.#leaving, call);
    const lane = this.#lanes.get(call.lane);
    if (lane) {
      const waiting = [...this.#lanes.values()].reduce((sum, one) => sum + one.waiting.length, 0);
      if (waiting >= MAX_WAITING) return this.#refuse(tooMany(MAX_WAITING, 'wait'), call);
      lane.waiting.push(call);
    } else if (this.#lanes.size >= MAX_LANES) {
      this.#refuse(tooMany(MAX_LANES, 'run at once'), call);
    } else this.#begin({ running: call, waiting: [] });
  }

  #begin(lane: Lane): void {
    this.#lanes.set(lane.running.lane, lane);
    void this.#run(lane).then(() => {
      lane.running.close();
      const next = lane.waiting.shift();
      if (next) return this.#begin({ running: next, waiting: lane.waiting });
      this.#lanes.delete(lane.running.lane);
      if (this.#leaving && this.#lanes.size === 0) this.#close(SERVICE_RESTART);
    });
  }

  /** Never rejects. */
  async #run(lane: Lane): Promise<void> {
    const call = lane.running;
    try {
      const begun = call.begin();
      if ('frames' in begun) {
        for (const frame of begun.frames) this.#say(frame);
        return;
      }
      const { sent, reply } = this.terms.send(begun.body);
      lane.sent = sent;
      const answered = await reply;
      if (answered.kind === 'answer') await this.#pass(answered.answer, call);
      if (!call.isDone) throw brokenOff();
    } catch (error) {
      if (lane.is_cancelled) this.#say(call.cancelled());
      else this.#say(this.talk.error(this.#publicError(error), call.lane));
    }
  }

  /** Passes an answer on: the events of a stream, or an error. */
  async #pass(answer: IncomingMessage, call: SocketCall): Promise<void> {
    const { statusCode = 500, headers } = answer;
    answer.setEncoding('utf8');
    if (headers['content-type']?.startsWith('text/event-stream')) {
      const events: EventSourceMessage[] = [];
      const parser = createParser({ onEvent: (event) => void events.push(event) });
      for await (const text of answer) {
        parser.feed(text as string);
        for (const { event, data } of events.splice(0)) this.#say(call.frame(event, data));
        if (this.ws.bufferedAmount > HIGH_WATER_BYTES) await this.#drained();
      }
      return;
    }
    let body = '';
    for await (const text of answer) body += text as string;
    this.#say(call.refusal(statusCode, shownHeaders(headers), body));
    // The key or its account is no longer valid, so no further turn would be.
    if (statusCode === 401 || statusCode === 403) this.#close(POLICY_VIOLATION);
  }

  #cancel(name: string, id: string | undefined): void {
    const lane =
      id === undefined
        ? this.#lanes.get(name)
        : [...this.#lanes.values()].find(({ running }) => running.id === id);
    if (!lane?.sent) {
      throw new GatewayError('invalid_request', 'No such response is running on this socket.');
    }
    lane.is_cancelled = true;
    lane.sent.destroy();
  }

  #refuse(error: GatewayError, call: SocketCall): void {
    call.close();
    this.#say(this.talk.error(error, call.lane));
  }

  /** What a client is told of an error. One without a code is no broken connection, but ours. */
  #publicError(err: unknown): GatewayError {
    if (err instanceof GatewayError) return err;
    if (codeOf(err) === '') this.terms.log.error({ err }, 'a frame of a WebSocket failed');
    return brokenOff();
  }

  #say(frame: string): void {
    if (this.ws.readyState === this.ws.OPEN) this.ws.send(frame);
  }

  /** Resolves when the client has read what was written; one that reads nothing is cut off. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.ws.terminate(), this.terms.client_ms);
      // Pings go out in turn, so this one is written when all before it are.
      this.ws.ping(undefined, undefined, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Reads no further frame of a client that does not read what it was answered. */
  #holdBack(): void {
    if (this.ws.isPaused || this.ws.bufferedAmount <= HIGH_WATER_BYTES) return;
    this.ws.pause();
    void this.#drained().then(() => this.ws.resume());
  }

  #ping(): void {
    const now = performance.now();
    if (this.#asked_at === undefined) {
      this.#asked_at = now;
      if (this.ws.readyState === this.ws.OPEN) this.ws.ping();
    } else if (now - this.#asked_at > this.terms.client_ms) this.ws.terminate();
  }

  #close(code: number): void {
    this.ws.close(code);
    this.#timers.push(setTimeout(() => this.ws.terminate(), CLOSE_MS));
  }

  #end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const { sent, waiting } of this.#lanes.values()) {
      for (const call of waiting.splice(0)) call.close();
      sent?.destroy();
    }
    this.talk.close();
  }
}

function brokenOff(): GatewayError {
  return new GatewayError('upstream_error', 'The answer broke off.');
}

function tooOld(): GatewayError {
  const message = 'This WebSocket takes no further turn: connect again to go on.';
  return new GatewayError('websocket_connection_limit_reached', message);
}

function tooMany(max: number, does: string): GatewayError {
  return new GatewayError('rate_limited', `On one WebSocket, at most ${max} turns may ${does}.`);
}

/** The headers that say more of an error. */
function shownHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  const shown = Object.entries(endToEnd(headers)).flatMap(([name, value]) =>
    typeof value === 'string' && name !== 'date' && !name.startsWith('content-')
      ? [[name, value]]
      : [],
  );
  return Object.fromEntries(shown) as Record<string, string>;
}
