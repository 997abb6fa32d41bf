import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Room } from './memory-budget.js';
import { Stop, type StopSignal } from '../lib/abort.js';
import type { Call } from '../lib/in-flight.js';

/** Thrown where the client has left and nobody waits for an answer any more. */
export class ClientGone extends Error {
  override name = 'ClientGone';
  constructor() {
    super('The client closed the connection.');
  }
}

/**
 * Writes as `res.write` does, but in this turn and as one piece. Node would gather what is written
 * until the next tick, and write a list of pieces, which costs more than the writing of one.
 */
export function writeAtOnce(res: ServerResponse, text: string, encoding: Encoding): boolean {
  const { socket } = res;
  socket?.cork();
  const taken = res.write(text, encoding);
  socket?.uncork();
  return taken;
}

export type Encoding = 'latin1' | 'utf8';

/** How to write a text of so many bytes in UTF-8: if it is as long as they are, it is ASCII. */
export function encodingOf(text: string, bytes: number): Encoding {
  return bytes === text.length ? 'latin1' : 'utf8';
}

/**
 * Resolves when the client has caught up, or has left. One that takes nothing for so long is cut
 * off: it would hold its upstream, its money and this process for ever.
 */
export function drained(res: ServerResponse, patience_ms: number): Promise<void> {
  const full = res.socket ?? res;
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(patience);
      full.off('drain', done);
      res.off('close', done);
      resolve();
    };
    const patience = setTimeout(() => {
      res.destroy();
      // Without a socket, as behind another answer on it, nothing tells that it was destroyed.
      done();
    }, patience_ms);
    full.on('drain', done);
    res.on('close', done);
    if (res.destroyed) done();
  });
}

/** How long an upstream is heard out after its client has left. */
export interface Patience {
  linger_ms: number;
  drain_ms: number;
}

/**
 * Follows whether the client is still there, and ends an upstream call that nobody waits for. Where
 * the upstream then stops billing it ends at once, or after `linger_ms` once its output has begun;
 * else after `drain_ms`. So the true usage is learned where there is time for it.
 */
export class Client implements Call {
  place = -1;
  gone = false;
  /** What happens to the call under way when the client leaves. */
  on_leave: 'abort' | 'linger' | 'drain' = 'abort';
  /** Whether it may come back for the answer, so that one is made also after it has left. */
  returns = false;
  /** Whose request it is; null where that is not known. */
  account_id: string | null = null;
  /** Where an answer is counted that is held whole. */
  room: Room | undefined;
  readonly #stop = new Stop();
  readonly #res: ServerResponse;
  readonly #left: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(res: ServerResponse, patience: Patience) {
    this.#res = res;
    this.#left = () => this.#leave(patience);
    res.once('close', this.#left);
    if (res.destroyed) this.#left();
  }

  /** Ends upstream calls when aborted. */
  get signal(): StopSignal {
    return this.#stop;
  }

  /** Ends the call under way with an error that the client is told. */
  stop(reason: Error): void {
    this.#stop.abort(reason);
  }

  /** Whether the answer goes out on that socket. */
  isOn(socket: Duplex): boolean {
    return this.#res.req.socket === socket;
  }

  /** To be called when the request is over. */
  close(): void {
    this.#res.off('close', this.#left);
    clearTimeout(this.#timer);
  }

  #leave({ linger_ms, drain_ms }: Patience): void {
    this.gone = true;
    if (this.on_leave === 'abort') {
      this.#stop.abort(new ClientGone());
      return;
    }
    const patience_ms = this.on_leave === 'linger' ? linger_ms : drain_ms;
    this.#timer = setTimeout(() => this.#stop.abort(new ClientGone()), patience_ms);
  }
}
