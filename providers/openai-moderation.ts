import type {
  ModerationCall,
  ModerationCodec,
  ModerationReply,
  ModerationResult,
} from '../src/modalities/moderation/codec.js';
import { isRecord, recordsIn } from '../src/lib/objects.js';
import { broken, checked } from './openai/answer.js';
import { changedFields } from '../src/core/field-changes.js';

/** Fields that only the gateway sets, as the price depends on them. */
const FIXED = new Set(['model', 'input']);

/** The moderations wire; where an upstream gives categories alone, any of them flags its input. */
export const moderation: ModerationCodec = {
  encode: ({ input, fields }, upstream) => ({
    path: '',
    body: { ...changedFields(fields, upstream, FIXED), model: upstream.model, input },
  }),
  decode: (body, call, { provider }) => decode(checked(body, provider), call),
};

function decode(answer: Record<string, unknown>, { results }: ModerationCall): ModerationReply {
  const found = recordsIn(answer.results);
  if (found.length !== results) {
    throw broken(`The upstream gave ${found.length} results for ${results} inputs.`);
  }
  const [usage = {}] = recordsIn([answer.usage]);
  return {
    results: found.map(resultIn),
    usage: { prompt_tokens: usage.prompt_tokens, completion_tokens: 0 },
  };
}

function resultIn(result: Record<string, unknown>): ModerationResult {
  const { flagged, categories, category_scores, category_applied_input_types: kinds } = result;
  if (!isRecord(categories) || !isRecord(category_scores)) {
    throw broken('The upstream gave a result without categories.');
  }
  return {
    flagged: typeof flagged === 'boolean' ? flagged : Object.values(categories).includes(true),
    categories,
    category_scores,
    ...(isRecord(kinds) && { category_applied_input_types: kinds }),
  };
}
