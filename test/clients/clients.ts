import { pypiPackage, type Package } from '../agents/install.js';
import { ASIDE_TEXT, FINAL_TEXT, type Step } from '../agents/script.js';

/** A client library, and a script that makes each of its calls. */
export interface Client {
  package: Package;
  /** A file of `python/`. */
  script: string;
  /** What the model says where it has tools. */
  steps: readonly Step[];
  /** What the script prints of its answers, in their order. */
  says: readonly object[];
  env?: Readonly<Record<string, string>>;
}

const ADD: Step = { name: 'add', arguments: { a: 2, b: 3 } };
const SUM_BY_CODE = 'I add them.\n<code>\nfinal_answer(add(2, 3))\n</code>';

const CHAT = { chat: ASIDE_TEXT };
const STREAM = { stream: ASIDE_TEXT };
const TOOLS = { tools: FINAL_TEXT, result: '5' };

export const CLIENTS: readonly Client[] = [
  python('openai', 'call_openai.py', [
    CHAT,
    STREAM,
    TOOLS,
    { responses: ASIDE_TEXT },
    { responses_stream: ASIDE_TEXT },
    { completions: ASIDE_TEXT },
    { embeddings: [64, 64] },
    { moderations: false },
    { speech: 'RIFF' },
    { transcriptions: true },
    { images: 'iVBOR' },
    { models: true },
  ]),
  python('anthropic', 'call_anthropic.py', [
    CHAT,
    STREAM,
    TOOLS,
    { count_tokens: true },
    { models: true },
  ]),
  python('google-genai', 'call_google.py', [
    CHAT,
    STREAM,
    TOOLS,
    { embeddings: 2 },
    { count_tokens: true },
  ]),
  python('langchain-openai', 'call_langchain_openai.py', [CHAT, STREAM, TOOLS, { embeddings: 2 }]),
  python('langchain-anthropic', 'call_langchain_anthropic.py', [CHAT, STREAM, TOOLS]),
  python('pydantic-ai-slim[openai]', 'call_pydantic_ai.py', [CHAT, STREAM, TOOLS]),
  python('openai-agents', 'call_openai_agents.py', [CHAT, STREAM, TOOLS, TOOLS]),
  python('instructor', 'call_instructor.py', [{ chat: { a: 2, b: 3 } }]),
  {
    ...python('smolagents[openai]', 'call_smolagents.py', [{ tools: 5 }, { stream: 5 }]),
    steps: [SUM_BY_CODE, SUM_BY_CODE],
  },
  {
    ...python('litellm', 'call_litellm.py', [
      CHAT,
      STREAM,
      TOOLS,
      CHAT,
      STREAM,
      TOOLS,
      { embeddings: 2 },
    ]),
    // It would ask the network for a list of prices.
    env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
  },
  python('llm', 'call_llm.py', [{ ...CHAT, ...STREAM }, { tools: FINAL_TEXT }]),
];

function python(name: string, script: string, says: readonly object[]): Client {
  return { package: pypiPackage(name), script, steps: [ADD], says };
}
