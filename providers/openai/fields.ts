import type { Upstream } from '../../src/core/model.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import { isRecord, recordsIn } from '../../src/lib/is-record.js';
import type { ChatCall } from '../../src/modalities/chat/codec.js';
import { effortsOf, fitToEfforts } from './efforts.js';
import type { OpenAiModel } from './models.js';
import { fitToModel, rulesOf } from './reasoning.js';
import { leaveOutField, refusedOf } from './refused-fields.js';

type Fields = Record<string, unknown>;

/** The fields of a request that do not affect its price, and the names of those left out. */
export interface ExtraFields {
  fields: Readonly<Fields>;
  ignored: readonly string[];
}

export const NOTHING: readonly string[] = [];

/**
 * All other fields of a call, in the upstream's form. They are copied only if one changes. `rules`
 * are those of the upstream's model.
 */
export function extraFields(
  call: ChatCall,
  upstream: Upstream,
  rules: OpenAiModel | null = rulesOf(upstream),
): ExtraFields {
  const { drop } = upstream;
  const { wire } = upstream.provider;
  const { tools, reasoning_effort, stop } = call.fields;
  if (Array.isArray(stop)) refuseStops(stop, wire);
  const asksUsage = call.stream && wire['stream_options'] !== false;
  const says = reasoning_effort !== undefined && wire['effort'] !== undefined;
  const efforts = reasoning_effort === undefined ? null : effortsOf(upstream);
  const refused = refusedOf(upstream) ?? NOTHING;
  const isFitted = says || rules || efforts || refused.length > 0;
  if (!asksUsage && drop.length === 0 && tools === undefined && !isFitted) {
    return { fields: call.fields, ignored: NOTHING };
  }
  const fields: Fields = Object.assign({}, call.fields);
  if (asksUsage) fields['stream_options'] = { include_usage: true };
  const ignored = [
    ...(efforts ? fitToEfforts(fields, efforts) : NOTHING),
    ...(says && fields['reasoning_effort'] !== undefined
      ? writeEffort(fields, wire['effort'])
      : NOTHING),
    ...(wire['cache_control'] === true ? NOTHING : unmark(fields)),
    ...dropFields(fields, drop),
    ...(rules ? fitToModel(fields, rules, upstream) : NOTHING),
    ...refused.filter((name) => leaveOutField(fields, name)),
  ];
  return { fields, ignored };
}

function refuseStops(stop: readonly unknown[], { max_stops }: Readonly<Fields>): void {
  if (typeof max_stops !== 'number' || stop.length <= max_stops) return;
  const message = `stop must name at most ${max_stops} texts for this model.`;
  throw new UpstreamError('unsupported', message, undefined, { param: 'stop' });
}

/** Answers the names of the fields that were there. */
function dropFields(fields: Fields, names: readonly string[]): string[] {
  return names.filter((name) => {
    if (!Object.hasOwn(fields, name)) return false;
    // Without tool_choice, the upstream would call tools that the client has forbidden.
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

/** Reports a level that the upstream can only turn on or off, which loses a part of it. */
function writeEffort(fields: Fields, how: unknown): readonly string[] {
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
