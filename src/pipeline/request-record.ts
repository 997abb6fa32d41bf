import type { Bill } from '../billing/bill.js';
import {
  CLIENT_DISCONNECTED_STATUS,
  FLAGS,
  timeOf,
  type RequestRecord,
  type UpstreamAttempt,
} from '../core/request-record.js';
import type { RequestNotes } from './request-notes.js';
import type { State } from './stage.js';

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

/** Composes the record that the store writes with the charge; undefined if none is kept. */
export function recordWithCharge(state: State, bill: Bill): RequestRecord | undefined {
  const { notes, answer } = state;
  if (!notes) return undefined;
  const hasBegun = answer !== undefined && 'streams' in answer && answer.streams;
  const hasDisconnected = notes.client?.disconnected === true && !hasBegun;
  notes.record = compose(state, notes, bill, hasDisconnected ? clientDisconnected : ANSWERED);
  return notes.record;
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
export function finalRecord(state: State, outcome: RequestOutcome): RequestRecord | undefined {
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
  state: State,
  notes: RequestNotes,
  bill: Bill | undefined,
  outcome: RequestOutcome,
): RequestRecord {
  const { status, code } = outcome;
  const { request_id, endpoint = '', caller, model, answer, task } = state;
  const { attempts } = notes;
  const last = attempts.at(-1);
  const usage = bill?.usage;
  const record: RequestRecord = {
    id: request_id,
    time_ms: timeOf(request_id),
    account_id: caller?.account_id ?? '',
    key_id: caller?.key_id ?? '',
    endpoint,
    model: model?.id ?? task?.task.model ?? null,
    provider: last?.provider ?? task?.task.provider ?? null,
    upstream_model: last?.model ?? task?.task.upstream_model ?? null,
    attempts,
    status,
    code: code ?? notes.code,
    streamed: answer !== undefined && 'streams' in answer && answer.streams,
    prompt_tokens: usage?.prompt_tokens ?? null,
    completion_tokens: usage?.completion_tokens ?? null,
    cached_tokens: usage?.cached_tokens ?? null,
    cache_write_tokens: usage?.cache_write_tokens ?? null,
    audio_input_tokens: usage?.audio_input_tokens ?? null,
    audio_output_tokens: usage?.audio_output_tokens ?? null,
    reasoning_tokens: usage?.reasoning_tokens ?? null,
    units: bill?.counts ?? null,
    auth_ms: rounded(notes.auth_ms),
    read_ms: rounded(notes.read_ms),
    hold_ms: rounded(notes.hold_ms),
    first_token_ms: rounded(notes.first_token_ms),
    took_ms: 0,
    own_ms: 0,
    cost_nano: bill?.cost_nano ?? 0n,
    uncollected_nano: bill?.uncollected_nano ?? 0n,
    flags: flags(notes, bill, last) | (isCut(outcome) ? FLAGS.cut : 0),
    is_kept: false,
  };
  setTimes(record, notes);
  return record;
}

function flags(
  { flags: noted, attempts, client }: RequestNotes,
  bill: Bill | undefined,
  last: UpstreamAttempt | undefined,
): number {
  let bits = noted;
  if (bill?.estimated && bill.cost_nano > 0n) bits |= FLAGS.estimated;
  if (client?.disconnected) bits |= FLAGS.client_left;
  if (attempts.length > 1 && last?.fault === null) bits |= FLAGS.fallback;
  return bits;
}

function setTimes(record: RequestRecord, { began, attempts }: RequestNotes): void {
  const took_ms = performance.now() - began;
  let upstreams_ms = 0;
  for (const attempt of attempts) upstreams_ms += attempt.took_ms;
  record.took_ms = rounded(took_ms);
  record.own_ms = rounded(Math.max(took_ms - upstreams_ms, 0));
}

function rounded(ms: number): number;
function rounded(ms: number | null): number | null;
function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1_000) / 1_000;
}
