import { createHash } from 'node:crypto';
import { recordsIn } from '../../src/lib/objects.js';
import type { TokenUsage } from '../../src/core/usage.js';

/** No shorter beginning of a prompt is cached. */
const LEAST_TOKENS = 1_024;
const MOST_MARKS = 4;
/** So many blocks before a mark are compared with the cache. */
const COMPARED_BLOCKS = 20;
const CHARACTERS_PER_TOKEN = 4;

type Body = Readonly<Record<string, unknown>>;

/** A beginning of a prompt, up to the end of one block. */
interface Beginning {
  digest: string;
  tokens: number;
  is_marked: boolean;
}

/**
 * The cache of Claude as Anthropic describes it: a beginning of a prompt up to a mark is written,
 * and read by a prompt that begins with exactly the same. It throws for more marks than are taken.
 */
export class CachingClaude {
  readonly #written = new Set<string>();

  /** What a request of the Messages API counts, with an answer of so many tokens. */
  usageOf(body: Body, completion_tokens: number): Required<CachedUsage> {
    const beginnings = beginningsOf(body);
    const marks = [...beginnings.keys()].filter((at) => beginnings[at]?.is_marked);
    if (marks.length > MOST_MARKS) throw new Error(`It takes 4 marks, and got ${marks.length}.`);
    const cached_tokens = marks.length === 0 ? 0 : this.#read(beginnings, marks);
    const written = marks.flatMap((at) => beginnings[at] ?? []).filter(isLongEnough);
    for (const { digest } of written) this.#written.add(digest);
    const written_to = written.at(-1)?.tokens ?? 0;
    return {
      prompt_tokens: beginnings.at(-1)?.tokens ?? 0,
      completion_tokens,
      cached_tokens,
      cache_write_tokens: Math.max(0, written_to - cached_tokens),
    };
  }

  /** The tokens of the longest beginning that is there. */
  #read(beginnings: readonly Beginning[], marks: readonly number[]): number {
    const read = marks.flatMap((at) => {
      const compared = beginnings.slice(Math.max(0, at - COMPARED_BLOCKS), at + 1);
      return compared.findLast(({ digest }) => this.#written.has(digest))?.tokens ?? 0;
    });
    return Math.max(...read);
  }
}

type CachedUsage = Pick<
  TokenUsage,
  'prompt_tokens' | 'completion_tokens' | 'cached_tokens' | 'cache_write_tokens'
>;

function isLongEnough({ tokens }: Beginning): boolean {
  return tokens >= LEAST_TOKENS;
}

function beginningsOf({ tools, system, messages }: Body): Beginning[] {
  const blocks = [
    ...recordsIn(tools),
    ...recordsIn(system),
    ...recordsIn(messages).flatMap(({ role, content }) =>
      recordsIn(content).map((block) => ({ role, ...block })),
    ),
  ];
  let tokens = 0;
  let digest = '';
  return blocks.map((block: Record<string, unknown>) => {
    const { cache_control, ...read } = block;
    const text = JSON.stringify(read);
    tokens += Math.ceil(text.length / CHARACTERS_PER_TOKEN);
    digest = createHash('sha256').update(`${digest}${text}`).digest('base64');
    return { digest, tokens, is_marked: cache_control !== undefined };
  });
}

/** The same counts as an answer of the Messages API has them. */
export function usageOfMessage(usage: Required<CachedUsage>): object {
  const { prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens } = usage;
  return {
    input_tokens: prompt_tokens - cached_tokens - cache_write_tokens,
    cache_read_input_tokens: cached_tokens,
    cache_creation_input_tokens: cache_write_tokens,
    output_tokens: completion_tokens,
  };
}
