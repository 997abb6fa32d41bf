import type { Upstream } from '../../core/model.js';
import type { Encoded } from '../../core/provider.js';
import { hasMethods } from '../../lib/objects.js';
import type { ModerationBody } from '../../schema-types/moderation.js';

/** A moderation call in the gateway's own words. */
export interface ModerationCall {
  input: ModerationBody['input'];
  /** The number of results: one for each text of a list, or one for all parts. */
  results: number;
  /** Passthrough fields. */
  fields: Readonly<Record<string, unknown>>;
}

/** The verdict on one input. */
export interface ModerationResult extends Readonly<Record<string, unknown>> {
  flagged: boolean;
}

export interface ModerationReply {
  /** One for each input, in their order. */
  results: readonly ModerationResult[];
  /** Token usage as the upstream reports it, in `prompt_tokens` and `completion_tokens`. */
  usage: unknown;
}

/** Translates moderation to one wire format. Pure, like `ChatCodec`; throws `UpstreamError`. */
export interface ModerationCodec {
  encode(call: ModerationCall, upstream: Upstream): Encoded;
  decode(body: unknown, call: ModerationCall, upstream: Upstream): ModerationReply;
}

/** Whether an adapter's export is a moderation codec. */
export function isModerationCodec(value: unknown): value is ModerationCodec {
  return hasMethods(value, ['encode', 'decode']);
}
