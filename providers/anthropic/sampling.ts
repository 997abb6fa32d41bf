import type { EncodeContext } from './context.js';
import type { MessagesBody } from './wire.js';

type RequestFields = Readonly<Record<string, unknown>>;
type Sampling = Pick<MessagesBody, 'temperature' | 'top_p' | 'top_k' | 'stop_sequences'>;

const MAX_TEMPERATURE = 1;

/**
 * Temperature, in the API's own range, top_p, top_k and stop sequences. New models take none of the
 * first three, thinking ones neither, and others not both of the first two.
 */
export function samplingOf(
  fields: RequestFields,
  isThinking: boolean,
  context: EncodeContext,
): Sampling {
  return { ...tokenSampling(fields, isThinking, context), ...stopsOf(fields.stop, context) };
}

function tokenSampling(
  fields: RequestFields,
  isThinking: boolean,
  context: EncodeContext,
): Sampling {
  const { temperature, top_p, top_k } = fields;
  const { model, ignored } = context;
  if (!model.sampling || isThinking) {
    // These are the API's own defaults.
    if (temperature !== undefined && temperature !== 1) ignored.add('temperature');
    if (top_p !== undefined && top_p !== 1) ignored.add('top_p');
    if (top_k !== undefined) ignored.add('top_k');
    return {};
  }
  const sampling: Sampling = {};
  if (typeof temperature === 'number') {
    sampling.temperature = Math.min(MAX_TEMPERATURE, temperature);
    if (temperature > MAX_TEMPERATURE) ignored.add('temperature');
  }
  if (typeof top_p === 'number') {
    if (sampling.temperature === undefined || model.both_sampling) sampling.top_p = top_p;
    else if (top_p !== 1) ignored.add('top_p');
  }
  if (typeof top_k === 'number') sampling.top_k = top_k;
  return sampling;
}

/** Stop sequences of nothing but white space are refused by the API, so they are left out. */
function stopsOf(stop: unknown, { ignored }: EncodeContext): Sampling {
  const given = (Array.isArray(stop) ? stop : [stop]).filter((one) => typeof one === 'string');
  const stop_sequences = given.filter((one) => one.trim() !== '');
  if (stop_sequences.length < given.length) ignored.add('stop');
  return stop_sequences.length === 0 ? {} : { stop_sequences };
}
