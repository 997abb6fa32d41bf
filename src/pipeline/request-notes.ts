import { FLAGS, MESSAGE_CHARACTERS, type RequestRecord } from '../core/request-record.js';
import type { AttemptFault, UpstreamAttempt } from '../core/request-record.js';
import { ClientDisconnected, GatewayError, isStop } from '../core/errors.js';
import type { Upstream } from '../core/model.js';
import { FAULT_MESSAGES, UpstreamError } from '../core/upstream-error.js';
import { toClientError } from '../upstream/to-client-error.js';
import type { ClientConnection } from '../http/client-connection.js';

const CODES_CHARACTERS = 100;

/** Notes of the stages of a request for its record: times, upstream attempts, flags. */
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
  /** The code of an error that was sent after the status. */
  code: string | null = null;
  client: ClientConnection | undefined;
  /** The record that was written to the store with the charge. */
  record: RequestRecord | undefined;
  #attemptStart = 0;

  /** The time since the request began. */
  get elapsed_ms(): number {
    return performance.now() - this.began;
  }

  /** A call to an upstream begins. */
  attemptStarted({ provider, model }: Upstream): void {
    this.#attemptStart = performance.now();
    this.attempts.push({
      provider: provider.name,
      model,
      fault: null,
      status: null,
      codes: null,
      message: null,
      began_ms: this.#attemptStart - this.began,
      took_ms: 0,
    });
  }

  /** The upstream has answered, or ended its stream. */
  attemptEnded(): void {
    const last = this.attempts.at(-1);
    if (last) last.took_ms = performance.now() - this.#attemptStart;
  }

  /**
   * The upstream has failed, the client has disconnected, or the gateway stops. The upstream's own
   * message is kept only once it is sent to the client, as it may name the upstream.
   */
  attemptFailed(error: unknown): void {
    this.attemptEnded();
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

  /** The upstream has failed in the middle of a stream, and the client gets the error. */
  streamCut(error: unknown): void {
    this.attemptFailed(error);
    this.flags |= FLAGS.cut;
    if (!(error instanceof UpstreamError)) {
      this.code = isStop(error) ? 'draining' : 'internal_error';
      return;
    }
    this.code = toClientError(error).code;
    this.reportedToClient(error);
  }

  /** The client gets the error of that attempt, by default the last one. */
  reportedToClient(
    error: UpstreamError,
    attempt: UpstreamAttempt | undefined = this.attempts.at(-1),
  ): void {
    if (attempt) attempt.message = error.kept_message.slice(0, MESSAGE_CHARACTERS);
  }

  /** The first output of a stream is being sent to the client. */
  firstOutput(): void {
    this.first_token_ms ??= this.elapsed_ms;
  }
}

function faultOf(error: unknown): AttemptFault {
  if (error instanceof ClientDisconnected) return 'client_left';
  return isStop(error) ? 'gateway_stopped' : 'broken';
}

/** The message of an attempt that the gateway itself ended. */
function messageOf(error: unknown): string {
  if (error instanceof ClientDisconnected)
    return 'The client left before the upstream had answered.';
  if (error instanceof GatewayError) return error.message.slice(0, MESSAGE_CHARACTERS);
  return 'The gateway failed while the upstream answered.';
}
