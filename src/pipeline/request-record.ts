import { upstreamCost, type Bill, type Receipt } from '../billing/bill.js';
import {
  CLIENT_DISCONNECTED_STATUS,
  FLAGS,
  type LimitedBy,
  type RequestRecord,
  type UpstreamAttempt,
  MESSAGE_CHARACTERS,
  type AttemptFault,
} from '../core/request-record.js';
import type { Caller, Model, Upstream } from '../core/model.js';
import type { Task } from '../store/tasks/task-types.js';
import { ClientDisconnected, GatewayError, isStop } from '../core/errors.js';
import { FAULT_MESSAGES, UpstreamError } from '../core/upstream-error.js';
import { toClientError } from '../upstream/to-client-error.js';
import type { ClientConnection } from '../http/client-connection.js';

const CODES_CHARACTERS = 100;

/** Notes of the stages of a request for its record: times, upstream attempts, flags. */
export class RequestNotes {
  readonly attempts: UpstreamAttempt[] = [];
  /** See `RequestRecord` for these times. */
  auth_ms: number | null = null;
  read_ms: number | null = null;
  hold_ms: number | null = null;
  first_token_ms: number | null = null;
  /** The waits before calls that were sent again, for which the upstreams are to blame. */
  paused_ms = 0;
  /** Bits of `FLAGS`. */
  flags = 0;
  /** Another upstream has answered than that of the call's conversation. */
  is_moved = false;
  /** See `RequestRecord`. */
  agent: string | null = null;
  /** The code of an error that was sent after the status. */
  code: string | null = null;
  limited_by: LimitedBy | undefined;
  client: ClientConnection | undefined;
  /** The record that was written to the store with the charge. */
  record: RequestRecord | undefined;
  #attemptStart = 0;

  constructor(readonly began = performance.now()) {}

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

  /** Nothing was sent to the upstream, for want of a connection: it was no attempt. */
  attemptUnsent(): void {
    this.attempts.pop();
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

  /** A stream has failed in the middle, and the client gets the error. */
  streamCut(error: unknown): void {
    this.attemptFailed(error);
    this.flags |= FLAGS.cut;
    if (!(error instanceof UpstreamError)) {
      this.code = error instanceof GatewayError ? error.code : 'internal_error';
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

/** How a request has ended for its client. */
export interface RequestOutcome {
  status: number;
  /** The code of the error; null for an answer. */
  code: string | null;
}

/** Whether an answer broke off after its client had seen the status of success. */
export function isCut({ status, code }: RequestOutcome): boolean {
  return code !== null && status < 400;
}

const ANSWERED: RequestOutcome = { status: 200, code: null };

/** The facts of a request that its record holds. */
interface RecordedRequest {
  request_id: string;
  time_ms: number;
  endpoint?: string;
  notes?: RequestNotes;
  caller?: Caller;
  model?: Model;
  task?: { task: Pick<Task, 'model' | 'provider' | 'upstream_model'> };
  /** `streams` is true for a stream. */
  answer?: object;
  receipt?: Receipt;
}

/** Composes the record that the store writes with the charge; undefined if none is kept. */
export function recordWithCharge(state: RecordedRequest, bill: Bill): RequestRecord | undefined {
  const { notes, answer } = state;
  if (!notes) return undefined;
  const hasDisconnected = notes.client?.disconnected === true && !isStream(answer);
  const record = compose(state, notes, bill, hasDisconnected ? clientDisconnected : ANSWERED);
  notes.record = Object.assign(record, cacheDollars(notes, bill));
  return notes.record;
}

/** What caches saved at a charge, and what the move of its conversation lost. */
export function cacheDollars(
  { is_moved }: Pick<RequestNotes, 'is_moved'>,
  { saved_nano = 0n, missed_nano = 0n }: Bill,
): Pick<RequestRecord, 'saved_nano' | 'lost_nano'> {
  return { saved_nano, lost_nano: is_moved ? missed_nano : 0n };
}

/** The ending of a request whose client left before its answer began. */
export const clientDisconnected: RequestOutcome = {
  status: CLIENT_DISCONNECTED_STATUS,
  code: 'client_left',
};

/**
 * The record of a finished request; undefined if it asked for no work, or was refused before its
 * caller was known.
 */
export function finalRecord(
  state: RecordedRequest,
  outcome: RequestOutcome,
): RequestRecord | undefined {
  const { notes, receipt } = state;
  if (!notes || !state.caller) return undefined;
  const { record } = notes;
  if (!record) return compose(state, notes, receipt, outcome);
  setTimes(record, notes);
  record.cost_nano = receipt?.cost_nano ?? 0n;
  record.uncollected_nano = receipt?.uncollected_nano ?? 0n;
  if (outcome.code !== null) Object.assign(record, outcome);
  if (isCut(outcome)) record.flags |= FLAGS.cut;
  return record;
}

function compose(
  state: RecordedRequest,
  notes: RequestNotes,
  bill: Bill | Receipt | undefined,
  outcome: RequestOutcome,
): RequestRecord {
  const { status, code } = outcome;
  const { request_id, time_ms, endpoint = '', caller, model, answer, task } = state;
  const { attempts } = notes;
  const last = attempts.at(-1);
  const usage = bill?.usage;
  const record: RequestRecord = {
    id: request_id,
    time_ms,
    account_id: caller?.account_id ?? '',
    key_id: caller?.key_id ?? '',
    agent: notes.agent,
    endpoint,
    model: model?.id ?? task?.task.model ?? null,
    provider: last?.provider ?? task?.task.provider ?? null,
    upstream_model: last?.model ?? task?.task.upstream_model ?? null,
    attempts,
    status,
    code: code ?? notes.code,
    streamed: isStream(answer),
    prompt_tokens: usage?.prompt_tokens ?? null,
    completion_tokens: usage?.completion_tokens ?? null,
    cached_tokens: usage?.cached_tokens ?? null,
    cache_write_tokens: usage?.cache_write_tokens ?? null,
    cache_write_1h_tokens: usage?.cache_write_1h_tokens ?? null,
    audio_input_tokens: usage?.audio_input_tokens ?? null,
    image_input_tokens: usage?.image_input_tokens ?? null,
    audio_output_tokens: usage?.audio_output_tokens ?? null,
    image_output_tokens: usage?.image_output_tokens ?? null,
    reasoning_tokens: usage?.reasoning_tokens ?? null,
    units: unitsOf(bill),
    auth_ms: rounded(notes.auth_ms),
    read_ms: rounded(notes.read_ms),
    hold_ms: rounded(notes.hold_ms),
    first_token_ms: rounded(notes.first_token_ms),
    took_ms: 0,
    own_ms: 0,
    cost_nano: bill?.cost_nano ?? 0n,
    uncollected_nano: state.receipt?.uncollected_nano ?? 0n,
    upstream_cost_nano: bill ? upstreamCost(bill) : null,
    saved_nano: 0n,
    lost_nano: 0n,
    flags: flags(notes, bill, last) | (isCut(outcome) ? FLAGS.cut : 0),
    is_kept: false,
  };
  setTimes(record, notes);
  return record;
}

/** What is counted beside tokens, the calls of the upstream's own tools too. */
function unitsOf(bill: Bill | Receipt | undefined): RequestRecord['units'] {
  if (!bill) return null;
  const { counts, usage } = bill;
  return counts && usage.tool_calls
    ? { ...counts, ...usage.tool_calls }
    : (counts ?? usage.tool_calls ?? null);
}

function isStream(answer: object | undefined): boolean {
  return answer !== undefined && 'streams' in answer && answer.streams === true;
}

function flags(
  { flags: noted, is_moved, attempts, client }: RequestNotes,
  bill: Pick<Bill, 'estimated' | 'cost_nano'> | undefined,
  last: UpstreamAttempt | undefined,
): number {
  let bits = noted;
  if (bill?.estimated && bill.cost_nano > 0n) bits |= FLAGS.estimated;
  if (client?.disconnected) bits |= FLAGS.client_left;
  if (is_moved) bits |= FLAGS.moved;
  if (last?.fault === null && attempts.some((one) => !isSameUpstream(one, last)))
    bits |= FLAGS.fallback;
  return bits;
}

function isSameUpstream(one: UpstreamAttempt, other: UpstreamAttempt): boolean {
  return one.provider === other.provider && one.model === other.model;
}

function setTimes(record: RequestRecord, { began, attempts, paused_ms }: RequestNotes): void {
  const took_ms = performance.now() - began;
  let upstreams_ms = paused_ms;
  for (const attempt of attempts) upstreams_ms += attempt.took_ms;
  record.took_ms = rounded(took_ms);
  record.own_ms = rounded(Math.max(took_ms - upstreams_ms, 0));
}

function rounded(ms: number): number;
function rounded(ms: number | null): number | null;
function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1_000) / 1_000;
}
