import { FLAGS, MESSAGE_CHARACTERS, type RequestRecord } from '../core/request-record.js';
import type { AttemptFault, UpstreamAttempt } from '../core/request-record.js';
import { GatewayError, isStop } from '../core/errors.js';
import type { Upstream } from '../core/model.js';
import { FAULT_MESSAGES, UpstreamError } from '../core/upstream-error.js';
import { toClientError } from '../upstream/to-client-error.js';
import { ClientDisconnected, type ClientConnection } from '../http/client-connection.js';

const CODES_CHARACTERS = 100;

/** What the stages of a request learn on the way that only its record wants to know. */
export class RequestNotes {
  readonly began = performance.now();
  readonly attempts: UpstreamAttempt[] = [];
  /** See `RequestRecord` for these times. */
  auth_ms: number | null = null;
  read_ms: number | null = null;
  hold_ms: number | null = null;
  first_token_ms: number | null = null;
  /** Bits of `FLAGS`. */
  flags = 0;
  /** The code of an error that was told after the status had gone out. */
  code: string | null = null;
  client: ClientConnection | undefined;
  /** The record as it went into the store with the charge. */
  record: RequestRecord | undefined;
  #asked = 0;

  /** Since the request began. */
  get elapsed_ms(): number {
    return performance.now() - this.began;
  }

  /** An upstream is asked. */
  asked({ provider, model }: Upstream): void {
    this.#asked = performance.now();
    this.attempts.push({
      provider: provider.name,
      model,
      fault: null,
      status: null,
      codes: null,
      message: null,
      began_ms: this.#asked - this.began,
      took_ms: 0,
    });
  }

  /** The upstream has answered, or said the last of its stream. */
  ended(): void {
    const last = this.attempts.at(-1);
    if (last) last.took_ms = performance.now() - this.#asked;
  }

  /**
   * The upstream has failed, its client has left, or the gateway stops. The upstream's own words
   * are kept only once the client is told them, as they may name the upstream.
   */
  failed(error: unknown): void {
    this.ended();
    const last = this.attempts.at(-1);
    if (!last) return;
    if (!(error instanceof UpstreamError)) {
      last.fault = faultOf(error);
      last.message = messageOf(error);
      return;
    }
    last.fault = error.fault;
    last.status = error.status ?? null;
    last.codes = error.codes.join(', ').slice(0, CODES_CHARACTERS) || null;
    const message = error.isQuoted ? FAULT_MESSAGES[error.fault] : error.message;
    last.message = message.slice(0, MESSAGE_CHARACTERS);
  }

  /** The upstream has failed after its answer had begun, which the client is told. */
  cut(error: unknown): void {
    this.failed(error);
    this.flags |= FLAGS.cut;
    if (!(error instanceof UpstreamError)) {
      this.code = isStop(error) ? 'draining' : 'internal_error';
      return;
    }
    this.code = toClientError(error).code;
    this.told(error);
  }

  /** The client is told of the failure of that attempt, the last one where none is named. */
  told(error: UpstreamError, attempt: UpstreamAttempt | undefined = this.attempts.at(-1)): void {
    if (attempt) attempt.message = error.kept_message.slice(0, MESSAGE_CHARACTERS);
  }

  /** The first output of a stream is on its way to the client. */
  spoke(): void {
    this.first_token_ms ??= this.elapsed_ms;
  }
}

function faultOf(error: unknown): AttemptFault {
  if (error instanceof ClientDisconnected) return 'client_left';
  return isStop(error) ? 'gateway_stopped' : 'broken';
}

/** Why the gateway itself has ended an attempt. */
function messageOf(error: unknown): string {
  if (error instanceof ClientDisconnected)
    return 'The client left before the upstream had answered.';
  if (error instanceof GatewayError) return error.message.slice(0, MESSAGE_CHARACTERS);
  return 'The gateway failed while the upstream answered.';
}
