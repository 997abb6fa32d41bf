import type { Upstream } from '../../src/core/model.js';
import { memoizeByObject } from '../../src/lib/objects.js';
import type { ToolRules, WordRule } from '../../src/modalities/chat/codec.js';
import { isClaude } from '../anthropic/models.js';

const NAME_CHARACTERS = 64;
const NAMES: WordRule = { illegal: /[^a-zA-Z0-9_-]/gu, max: NAME_CHARACTERS };
const PROPERTIES: WordRule = { illegal: /[^a-zA-Z0-9_.-]/gu, max: NAME_CHARACTERS };
/** OpenAI's limit. Other servers want IDs back as they gave them, whatever their length. */
const CHAT_ID_CHARACTERS = 40;

/** `openai/gpt-5`, as those who pass calls on name the models of OpenAI. */
const OPENAI_MODEL = /(?:^|\/)(?:chatgpt-|gpt-\d|o\d)/u;

/** What OpenAI's chat wire takes of tools, by the flags of a manifest. */
export const chatToolRules = memoizeByObject(
  ({ model, provider: { wire } }: Upstream): ToolRules => {
    const isOpenAi = wire.openai_models === true;
    const isStrict = isOpenAi || isClaude(model) || OPENAI_MODEL.test(model);
    return {
      names: NAMES,
      ...(wire.thought_signatures !== true && { ids: idRule(wire.tool_id_length, isOpenAi) }),
      ...(isStrict && { properties: PROPERTIES }),
    };
  },
);

function idRule(length: unknown, isOpenAi: boolean): WordRule {
  if (typeof length === 'number') {
    return { illegal: /[^a-zA-Z0-9]/gu, max: length, is_exact: true };
  }
  return { max: isOpenAi ? CHAT_ID_CHARACTERS : Infinity };
}

/** What OpenAI's Responses API takes of tools. */
export const RESPONSES_TOOL_RULES: ToolRules = {
  names: NAMES,
  ids: { max: 64 },
  properties: PROPERTIES,
};
