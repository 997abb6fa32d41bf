import { PRICES, type Act, type CountedWire } from './counted-streams.js';

export interface Due {
  nano: bigint;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  estimated: boolean;
}

/**
 * What is due for one call after these acts: each counter at the last value above zero that was
 * reported, the output at our own count where words came after it, or where nothing was reported.
 * `own_prompt` is our own count of the prompt.
 */
export function dueOfCall(
  wire: CountedWire,
  acts: readonly Act[],
  isWhole: boolean,
  own_prompt: number,
): Due {
  const last = new Map<string, number>();
  const said = new Set<string>();
  const total = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + (last.get(name) ?? 0), 0);
  let words = 0;
  let behind = 0;
  for (const { word, counts = {} } of acts) {
    if (word) behind += 1;
    if (word) words += 1;
    const before = total(wire.output);
    for (const [name, count] of Object.entries(counts)) {
      if (count !== null) said.add(name);
      if (count) last.set(name, count);
    }
    if (total(wire.output) !== before) behind = 0;
  }
  const output = total(wire.output);
  const prompt = total([...wire.prompt, ...(wire.adds_classes ? wire.classes : [])]);
  const isFree = isWhole && output > 0 && wire.believes_zero.some((name) => said.has(name));
  const hasPrompt = prompt > 0 || isFree;
  const isCounted = output > 0 && (isWhole || behind === 0);
  const prompt_tokens = hasPrompt ? prompt : own_prompt;
  const completion_tokens = isCounted ? output : Math.max(output, words);
  const classOf = (name: 'cached' | 'written'): number => {
    const count = last.get(name) ?? 0;
    return wire.classes.includes(name) && hasPrompt && count <= prompt ? count : 0;
  };
  const cached = classOf('cached');
  const written = Math.min(classOf('written'), prompt - cached);
  const nano =
    BigInt(prompt_tokens - cached - written) * PRICES.input +
    BigInt(cached) * PRICES.cached +
    BigInt(written) * PRICES.written +
    BigInt(completion_tokens) * PRICES.output;
  const estimated = !isWhole || !hasPrompt || output === 0;
  return { nano, prompt_tokens, completion_tokens, cached_tokens: cached, estimated };
}

/** What is due for several calls that make one answer. */
export function sumOfDues(dues: readonly Due[]): Due {
  return dues.reduce((sum, due) => ({
    nano: sum.nano + due.nano,
    prompt_tokens: sum.prompt_tokens + due.prompt_tokens,
    completion_tokens: sum.completion_tokens + due.completion_tokens,
    cached_tokens: sum.cached_tokens + due.cached_tokens,
    estimated: sum.estimated || due.estimated,
  }));
}
