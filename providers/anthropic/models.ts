/** How the models of one generation count, in tokens. */
export interface Counting {
  /** For a token of the vocabulary by which the gateway counts texts. */
  text: number;
  /** What the API writes into a prompt where there are tools. */
  tools: number;
  /** The most pixels of an image's longer edge, and its most tokens: larger ones are scaled. */
  image_edge: number;
  image_most: number;
}

/** The fields that one generation of Claude accepts, and those that it refuses with a 400. */
export interface ClaudeModel {
  /** The most output tokens; undefined where they are not known. */
  max_output: number | undefined;
  /** Takes temperature, top_p and top_k. */
  sampling: boolean;
  /** Takes temperature and top_p in one request. */
  both_sampling: boolean;
  /** How it is asked to think. */
  thinking: 'none' | 'budget' | 'budget-or-adaptive' | 'adaptive';
  /** How thinking is turned off if it is on by default. */
  thinking_off: 'unasked' | 'disabled' | 'between_tools' | 'never';
  /** The levels of `output_config.effort`. */
  effort: 'none' | 'to-max' | 'with-xhigh';
  /** Takes a JSON schema in `output_config.format`, and `strict` tools. */
  schemas: boolean;
  /** Takes a tool choice that forces a call. */
  forced_tools: boolean;
  /** Takes messages of the role `system` within a conversation. */
  system_turns: boolean;
  /** Continues a last message of the assistant. */
  prefill: boolean;
  counting: Counting;
}

interface Version {
  family: string;
  /** Major times 100 plus minor: 405 for 4.5. */
  number: number;
}

/** `claude-sonnet-4-5-20250929`; a date is no minor version. */
const NEW_NAME = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?![\d.])/u;
/** `claude-3-5-sonnet-20241022`, `claude-2.1`, `claude-v2`. */
const OLD_NAME = /claude-v?(\d)(?:[-.](\d))?(?![\d.])(?:-([a-z]+))?/u;

/**
 * The rules of a model by its name on any service: `us.anthropic.claude-opus-4-1-…-v1:0` on
 * Bedrock, `claude-sonnet-4-5@20250929` on Vertex AI. An unknown Claude gets the rules of the
 * newest one. A model of another maker gets rules without the newer fields.
 */
export function claudeModel(name: string): ClaudeModel {
  const version = versionOf(name.toLowerCase());
  if (version) return knownModel(version);
  return isClaude(name) ? UNKNOWN_CLAUDE : FOREIGN;
}

/** Whether the model of that name, at any cloud, is a Claude. */
export function isClaude(name: string): boolean {
  return /claude/iu.test(name);
}

function versionOf(name: string): Version | undefined {
  const [, family, major, minor] = NEW_NAME.exec(name) ?? [];
  if (family !== undefined && major !== undefined) {
    return { family, number: Number(major) * 100 + Number(minor ?? 0) };
  }
  const [, first, second, older = 'claude'] = OLD_NAME.exec(name) ?? [];
  if (first === undefined) return undefined;
  return { family: older, number: Number(first) * 100 + Number(second ?? 0) };
}

function knownModel({ family, number }: Version): ClaudeModel {
  const isOpus = family === 'opus';
  const isMythical = family === 'fable' || family === 'mythos';
  const alwaysThinks = isMythical || ((isOpus || family === 'sonnet') && number >= 505);
  return {
    max_output: maxOutput(family, number),
    sampling: number < 407,
    both_sampling: number < 401,
    thinking: thinkingOf(number),
    thinking_off: alwaysThinks ? thinkingOff(family) : number >= 500 ? 'disabled' : 'unasked',
    effort: number >= 407 ? 'with-xhigh' : number >= (isOpus ? 405 : 406) ? 'to-max' : 'none',
    schemas: number >= (isOpus ? 401 : 405),
    forced_tools: !alwaysThinks || (family === 'fable' && number === 500),
    system_turns: number >= 408,
    prefill: number < 406,
    counting: countingOf(number),
  };
}

function thinkingOf(number: number): ClaudeModel['thinking'] {
  if (number >= 407) return 'adaptive';
  if (number >= 406) return 'budget-or-adaptive';
  return number >= 307 ? 'budget' : 'none';
}

/** Measured on recorded answers; the edges and limits of images are those of the vision guide. */
const NEWEST: Counting = { text: 1.38, tools: 285, image_edge: 2_576, image_most: 4_784 };
const OLDER = { text: 1.1, image_edge: 1_568, image_most: 1_568 };

function countingOf(number: number): Counting {
  if (number >= 407) return NEWEST;
  return { ...OLDER, tools: number >= 405 ? 495 : 300 };
}

function thinkingOff(family: string): ClaudeModel['thinking_off'] {
  return family === 'sonnet' ? 'between_tools' : 'never';
}

function maxOutput(family: string, number: number): number {
  if (number >= 406) return 128_000;
  if (number >= 405) return 64_000;
  if (number >= 400) return family === 'opus' ? 32_000 : 64_000;
  if (number >= 307) return 64_000;
  return number >= 305 ? 8_192 : 4_096;
}

const UNKNOWN_CLAUDE: ClaudeModel = {
  max_output: undefined,
  sampling: false,
  both_sampling: false,
  thinking: 'adaptive',
  thinking_off: 'never',
  effort: 'with-xhigh',
  schemas: true,
  forced_tools: true,
  system_turns: false,
  prefill: false,
  counting: NEWEST,
};

const FOREIGN: ClaudeModel = {
  max_output: undefined,
  sampling: true,
  both_sampling: true,
  thinking: 'budget',
  thinking_off: 'disabled',
  effort: 'none',
  schemas: false,
  forced_tools: true,
  system_turns: false,
  prefill: true,
  counting: { ...OLDER, tools: 300 },
};
