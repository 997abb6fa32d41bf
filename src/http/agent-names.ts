const NAME_CHARACTERS = 32;
/** Longer user agents are read up to here. */
const READ_CHARACTERS = 200;
const MAX_CACHED = 1_000;

/** The names of programs that call themselves in several ways. */
const NAMES: readonly (readonly [product: RegExp, name: string])[] = [
  [/^claude-(?:cli|code)$/u, 'claude-cli'],
  [/^codex(?:$|[-_])/u, 'codex'],
  [/^gemini-?cli(?:$|-)/u, 'gemini-cli'],
  [/^qwen-?code$/u, 'qwen-code'],
  [/^roo-?code$/u, 'roo-code'],
  [/^goose(?:$|-)/u, 'goose'],
  [/^ai(?:$|-sdk)/u, 'ai-sdk'],
  [/^mozilla$/u, 'browser'],
];

/** Further programs, which every process tells apart. */
const KNOWN = new Set([
  ...NAMES.map(([, name]) => name),
  ...'opencode kilo-code cline continue aider crush cursor zed openhands litellm'.split(' '),
  ...'openai-python openai-js anthropic-python anthropic-js google-genai-sdk'.split(' '),
  ...'agents-python agents-javascript langchain langchainjs-openai ls-js ls-python'.split(' '),
  ...'python-requests python-httpx curl node bun axios go-http-client'.split(' '),
]);

/** The first product of a user agent. That of an SDK is followed by its language, `OpenAI/JS 7`. */
const PRODUCT = /^(?:Async)?([A-Za-z][\w.-]*)(?:\/([A-Za-z]\w*) )?/u;

/** The name of every program above the number that a process tells apart. */
export const OTHER_AGENT = 'other';

/**
 * Reads the name of the client program from user agents: that of its first product, in lower case.
 * Of programs that it does not know it tells so many apart, as each name is a row of the totals.
 */
export class AgentNames {
  readonly #cache = new Map<string, string | null>();
  readonly #others = new Set<string>();

  constructor(private readonly max_others = 64) {}

  /** Null without a user agent, and for one that begins with no name. */
  nameOfAgent(user_agent: string | undefined): string | null {
    if (user_agent === undefined) return null;
    const text = user_agent.slice(0, READ_CHARACTERS);
    const cached = this.#cache.get(text);
    if (cached !== undefined) return cached;
    const name = this.#read(text);
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    this.#cache.set(text, name);
    return name;
  }

  #read(text: string): string | null {
    const [, product, language] = PRODUCT.exec(text.trim()) ?? [];
    if (product === undefined) return null;
    const said = [product, ...(language === undefined ? [] : [language])].join('-').toLowerCase();
    const name = (NAMES.find(([known]) => known.test(said))?.[1] ?? said).slice(0, NAME_CHARACTERS);
    if (KNOWN.has(name) || this.#others.has(name)) return name;
    if (this.#others.size >= this.max_others) return OTHER_AGENT;
    this.#others.add(name);
    return name;
  }
}
