import { isRecord } from '../../src/lib/is-record.js';
import type { Upstream } from '../../src/core/model.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { recordsIn } from './answer.js';

type Fields = Record<string, unknown>;

/** The fields of a request that are neither priced nor held, and the names of those left out. */
export interface ExtraFields {
  fields: Readonly<Fields>;
  ignored: readonly string[];
}

const NOTHING: readonly string[] = [];

/** Every other field of a call, said as the upstream says it. Without need nothing is copied. */
export function extraFields(call: ChatCall, { provider: { wire }, drop }: Upstream): ExtraFields {
  const { tools, reasoning_effort } = call.fields;
  const asksUsage = call.stream && wire['stream_options'] !== false;
  const says = reasoning_effort !== undefined && wire['effort'] !== undefined;
  if (!asksUsage && drop.length === 0 && tools === undefined && !says) {
    return { fields: call.fields, ignored: NOTHING };
  }
  const fields: Fields = Object.assign({}, call.fields);
  if (asksUsage) fields['stream_options'] = { include_usage: true };
  const ignored = [
    ...(says ? sayEffort(fields, wire['effort']) : NOTHING),
    ...(wire['cache_control'] === true ? NOTHING : unmark(fields)),
    ...dropFields(fields, drop),
  ];
  return { fields, ignored };
}

/** Answers the names of the fields that were there. */
function dropFields(fields: Fields, names: readonly string[]): string[] {
  return names.filter((name) => {
    if (!Object.hasOwn(fields, name)) return false;
    // An upstream that does not know tool_choice would call the tools it was told to leave.
    const saysNone = name === 'tool_choice' && fields[name] === 'none';
    if (saysNone) delete fields['tools'];
    delete fields[name];
    return !saysNone;
  });
}

/** Takes marks for the cache off the tools. */
function unmark(fields: Fields): readonly string[] {
  const { tools } = fields;
  if (!Array.isArray(tools) || !recordsIn(tools).some((tool) => 'cache_control' in tool)) {
    return NOTHING;
  }
  fields['tools'] = tools.map((tool: unknown) => {
    if (!isRecord(tool)) return tool;
    const { cache_control: _, ...rest } = tool;
    return rest;
  });
  return ['tools[].cache_control'];
}

/** A level that the upstream can only say as on or off is named; what is named is not all lost. */
function sayEffort(fields: Fields, how: unknown): readonly string[] {
  const { reasoning_effort: effort, reasoning } = fields;
  const isOn = effort !== 'none';
  if (how === 'none_as_thinking' && isOn) return NOTHING;
  delete fields['reasoning_effort'];
  if (how === 'reasoning') {
    fields['reasoning'] = { effort, ...(isRecord(reasoning) && reasoning) };
    return NOTHING;
  }
  if (how === 'enable_thinking') fields['enable_thinking'] ??= isOn;
  else fields['thinking'] ??= { type: isOn ? 'enabled' : 'disabled' };
  return isOn ? ['reasoning_effort'] : NOTHING;
}
