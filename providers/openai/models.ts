/** The fields that one model of OpenAI accepts, and those that it refuses with a 400. */
export interface OpenAiModel {
  /** When it reasons: it takes no sampling parameters then. */
  reasons: 'always' | 'unless_none' | 'if_asked' | 'never';
  /** The lowest and the highest effort, where both are known. */
  efforts?: { lowest: string; highest: string };
  /** Takes stop sequences. */
  stop: boolean;
  /** Takes `parallel_tool_calls`. */
  parallel: boolean;
  /** Takes `verbosity`. */
  verbosity: boolean;
  /**
   * The efforts that it takes with tools, on this wire: `any`, only `none`, or `none` alone, which
   * has to be said.
   */
  with_tools: 'any' | 'none' | 'said_none';
}

/** `o3`, `o4-mini-2025-04-16`. */
const O_SERIES = /^(?:ft:)?o(\d)(?:-|$)/u;
/** `gpt-5`, `gpt-5.4-mini`, `gpt-4o`; Azure's names have no dots: `gpt-35-turbo`. */
const GPT = /^(?:ft:|chat)?gpt-(\d)\.?(\d{0,2})(-chat)?/u;

/** The rules of a model by its name; undefined for a name that says nothing. */
export function openAiModel(name: string): OpenAiModel | undefined {
  const [, series] = O_SERIES.exec(name) ?? [];
  if (series !== undefined) return oSeries(Number(series));
  const [, major, minor = '', chat] = GPT.exec(name) ?? [];
  if (major === undefined) return undefined;
  const number = Number(major) * 100 + Number(minor);
  if (number < 500 || (number === 500 && chat)) return NEVER_REASONS;
  return chat ? { ...gpt(number), reasons: 'unless_none' } : gpt(number);
}

const NEVER_REASONS: OpenAiModel = {
  reasons: 'never',
  stop: true,
  parallel: true,
  verbosity: false,
  with_tools: 'any',
};

function oSeries(number: number): OpenAiModel {
  return {
    reasons: 'always',
    efforts: { lowest: 'low', highest: 'high' },
    stop: number < 3,
    parallel: false,
    verbosity: false,
    with_tools: 'any',
  };
}

/** The models from GPT-5 on, by major times 100 plus minor. */
function gpt(number: number): OpenAiModel {
  const reasons =
    number === 500 || number >= 600 ? 'always' : ASKED.has(number) ? 'if_asked' : 'unless_none';
  const lowest = number === 500 ? 'minimal' : 'none';
  const highest = number < 502 ? 'high' : 'xhigh';
  const with_tools = number < 504 || number >= 600 ? 'any' : number < 506 ? 'none' : 'said_none';
  return {
    reasons,
    ...(number < 506 && { efforts: { lowest, highest } }),
    stop: number >= 505,
    parallel: true,
    verbosity: true,
    with_tools,
  };
}

/** GPT-5.1, 5.2 and 5.4: their default effort is `none`. */
const ASKED: ReadonlySet<number> = new Set([501, 502, 504]);
