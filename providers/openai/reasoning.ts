import type { Upstream } from '../../src/core/model.js';
import { memoizeByObject } from '../../src/lib/objects.js';
import { openAiModel, type OpenAiModel } from './models.js';
import { leaveOutField } from './refused-fields.js';

type RequestFields = Record<string, unknown>;

const PENALTIES = ['presence_penalty', 'frequency_penalty', 'logit_bias'];
const SAMPLING = ['temperature', 'top_p', 'logprobs', 'top_logprobs'];

/** The efforts that more than one model takes, in rising order. */
export const LEVELS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** The rules of an upstream's model; null if it is not known to have any. */
export const rulesOf = memoizeByObject(({ model, provider }: Upstream): OpenAiModel | null => {
  return (provider.wire.openai_models === true && openAiModel(model)) || null;
});

/**
 * Leaves out the fields that the model refuses, in place, and returns the names of those that asked
 * for something. Throws the `UpstreamError` `unsupported` for stop sequences: without them the
 * answer would be another.
 */
export function fitToModel(fields: RequestFields, rules: OpenAiModel, { set }: Upstream): string[] {
  const ignored: string[] = [];
  const leaveOut = (name: string): void => {
    if (leaveOutField(fields, name)) ignored.push(name);
  };
  if (!rules.stop) leaveOut('stop');
  if (rules.reasons === 'never') leaveOut('reasoning_effort');
  else if (fitEffort(fields, rules)) ignored.push('reasoning_effort');
  if (!rules.verbosity) leaveOut('verbosity');
  if (!rules.parallel) leaveOut('parallel_tool_calls');
  if (rules.reasons !== 'never') PENALTIES.forEach(leaveOut);
  const effort = set.reasoning_effort ?? fields.reasoning_effort;
  if (doesReason(effort, rules)) SAMPLING.forEach(leaveOut);
  return ignored;
}

/** Whether a model reasons with this effort. */
export function doesReason(effort: unknown, { reasons }: OpenAiModel): boolean {
  if (reasons === 'always') return true;
  return reasons === 'unless_none'
    ? effort !== 'none'
    : reasons === 'if_asked' && effort !== undefined && effort !== 'none';
}

/** Changes the effort to one that the model takes. Returns true if the wish is not met. */
function fitEffort(fields: RequestFields, { efforts, with_tools }: OpenAiModel): boolean {
  const { reasoning_effort: wanted, tools } = fields;
  if (tools !== undefined && with_tools !== 'any') {
    if (wanted !== undefined || with_tools === 'said_none') fields.reasoning_effort = 'none';
    return wanted !== undefined && wanted !== 'none';
  }
  const level = LEVELS.indexOf(String(wanted));
  if (!efforts || level === -1) return false;
  const { lowest, highest } = efforts;
  const isKnown = wanted !== 'minimal' || lowest === 'minimal';
  if (level < LEVELS.indexOf(lowest)) fields.reasoning_effort = lowest;
  else if (level > LEVELS.indexOf(highest)) fields.reasoning_effort = highest;
  else if (!isKnown) fields.reasoning_effort = 'low';
  return wanted === 'none' && lowest !== 'none';
}
