import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { renameFields, setFields } from '../../src/core/field-changes.js';
import type { Upstream } from '../../src/core/model.js';
import { isRecord } from '../../src/lib/objects.js';

export type RequestFields = Readonly<Record<string, unknown>>;

/** Fields that only the gateway sets, as the price depends on them. */
const PRICED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
]);

/** The fields of a call, as `rename`, `set` and `drop` leave them; none is null. */
export function fieldsOf(call: ChatCall, { set, drop, rename }: Upstream): RequestFields {
  const fields: Record<string, unknown> = { ...call.fields };
  renameFields(fields, rename, (_from, to) => !PRICED.has(to));
  setFields(fields, set, PRICED);
  for (const name of drop) {
    // Without tool_choice, the model would call tools that the client has forbidden.
    if (name === 'tool_choice' && fields.tool_choice === 'none') delete fields.tools;
    delete fields[name];
  }
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === undefined) delete fields[name];
  }
  return fields;
}

/** Fields of the OpenAI wire without an equal, and the values of theirs that ask for nothing. */
const NO_EQUAL: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['presence_penalty', [0]],
  ['frequency_penalty', [0]],
  ['parallel_tool_calls', [true]],
  ['logprobs', [false]],
  ['top_logprobs', [0]],
  ['logit_bias', []],
  ['seed', []],
  ['user', []],
  ['verbosity', []],
  ['metadata', []],
  ['store', [false]],
  ['prediction', []],
  ['prompt_cache_key', []],
  ['safety_identifier', []],
  ['reasoning_content', []],
  ['reasoning_details', []],
]);

/** Fields that this codec translates. */
const SAID: ReadonlySet<string> = new Set([
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'thinking',
  'service_tier',
]);

/** Members of a request of Converse that an operator may set whole. */
const CONVERSE: ReadonlySet<string> = new Set([
  'inferenceConfig',
  'outputConfig',
  'additionalModelRequestFields',
  'additionalModelResponseFieldPaths',
  'guardrailConfig',
  'performanceConfig',
  'serviceTier',
  'requestMetadata',
  'promptVariables',
]);

/** The fields that this codec does not translate. */
export interface OtherFields {
  /** Members of the request itself. */
  converse: Record<string, unknown>;
  /** For the model, which Converse does not look at. */
  additional: Record<string, unknown>;
}

/** The fields that are sent as they are. Adds the names of those without an equal to `ignored`. */
export function otherFieldsOf(fields: RequestFields, ignored: Set<string>): OtherFields {
  const rest: OtherFields = { converse: {}, additional: {} };
  for (const [name, value] of Object.entries(fields)) {
    if (SAID.has(name)) continue;
    const idle = NO_EQUAL.get(name);
    if (idle) {
      if (!idle.includes(value)) ignored.add(name);
    } else if (CONVERSE.has(name)) rest.converse[name] = value;
    else rest.additional[name] = value;
  }
  return rest;
}

/** One record over another, and records within them likewise. */
export function merged(under: RequestFields, over: RequestFields): Record<string, unknown> {
  const both: Record<string, unknown> = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const below = both[name];
    both[name] = isRecord(below) && isRecord(value) ? merged(below, value) : value;
  }
  return both;
}
