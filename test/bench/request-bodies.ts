import { Buffer } from 'node:buffer';
import { modelOf, type Format, type Work } from './wording.js';

/** One tool call of an agent, and what the tool answered. */
interface Step {
  tool: string;
  path: string;
  result: string;
}

const TOOLS = Array.from({ length: 16 }, (_, at) => ({
  name: `tool_${at}`,
  description: `Does step ${at} of the work, and tells the caller what it found. `.repeat(6),
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'An absolute path' },
      limit: { type: 'integer', description: 'The most lines' },
      mode: { type: 'string', enum: ['read', 'write'] },
    },
    required: ['path'],
  },
}));
const INSTRUCTIONS = 'You are a careful engineer. '.repeat(400);
const QUESTION = 'Please mend the code.';
const RESULT_BYTES = 6_000;
/** A turn has its tools and instructions, so none is smaller. */
export const LEAST_TURN_BYTES = 32 * 1_024;

const bodies = new Map<string, string>();

/** The text of a request, the same for each call of a work. */
export function requestBody(work: Work): string {
  const { format, turn_bytes, kind } = work;
  const key = [modelOf(work), kind, format, turn_bytes].join(' ');
  const body = bodies.get(key) ?? JSON.stringify(bodyOf(work));
  bodies.set(key, body);
  return body;
}

function bodyOf(work: Work): object {
  const { kind, format, turn_bytes } = work;
  const asked = turn_bytes === undefined ? SMALL[format] : turnOf(format, turn_bytes);
  const stream = kind !== 'json' && { stream: true, stream_options: { include_usage: true } };
  return { model: modelOf(work), ...asked, ...stream };
}

/** A call of about 1 KB. */
const SENTENCE = 'Count the boats that lie in the harbour, and say which of them came first. ';
const PROMPT = SENTENCE.repeat(10);
const MASTER = 'You are a harbour master who answers in one sentence.';
const USER = { role: 'user', content: PROMPT };
const SMALL: Record<Format, object> = {
  chat: {
    messages: [{ role: 'system', content: MASTER }, USER],
    max_tokens: 256,
    temperature: 0.2,
  },
  messages: { system: MASTER, messages: [USER], max_tokens: 256, temperature: 0.2 },
  responses: { instructions: MASTER, input: PROMPT, max_output_tokens: 256, store: false },
};

/**
 * What a coding agent sends late in its work: instructions, tools, and all of its tool calls with
 * their results so far, which are source code with some letters that are not ASCII.
 */
function turnOf(format: Format, bytes: number): object {
  const steps: Step[] = [];
  const empty_bytes = bytesOf(TURNS[format]([]));
  let left = bytes - empty_bytes;
  while (left > 0) {
    const step = stepOf(steps.length, Math.min(RESULT_BYTES, left));
    steps.push(step);
    left -= bytesOf(TURNS[format]([step])) - empty_bytes;
  }
  return TURNS[format](steps);
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function stepOf(at: number, bytes: number): Step {
  let result = '';
  for (let line = at * 100; result.length < bytes; line += 1) result += codeOf(line);
  return {
    tool: `tool_${at % TOOLS.length}`,
    path: `/src/file${at}.ts`,
    result: result.slice(0, bytes),
  };
}

function codeOf(at: number): string {
  const note = at % 7 === 0 ? 'größer – naïve' : 'plain';
  return (
    `export function step${at}(input: string): number {\n` +
    `\tconst parts = input.split(/\\s+/u).filter((one) => one !== "");\n` +
    `\treturn parts.length + ${at}; // ${note}\n}\n`
  );
}

const TURNS: Record<Format, (steps: readonly Step[]) => object> = {
  chat: (steps) => ({
    max_tokens: 256,
    messages: [
      { role: 'system', content: INSTRUCTIONS },
      { role: 'user', content: QUESTION },
      ...steps.flatMap(({ tool, path, result }, at) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: `call_${at}`,
              type: 'function',
              function: { name: tool, arguments: JSON.stringify({ path }) },
            },
          ],
        },
        { role: 'tool', tool_call_id: `call_${at}`, content: result },
      ]),
    ],
    tools: TOOLS.map((tool) => ({ type: 'function', function: tool })),
  }),
  messages: (steps) => ({
    max_tokens: 256,
    system: [{ type: 'text', text: INSTRUCTIONS }],
    messages: [
      { role: 'user', content: QUESTION },
      ...steps.flatMap(({ tool, path, result }, at) => [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `toolu_${at}`, name: tool, input: { path } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `toolu_${at}`, content: result }],
        },
      ]),
    ],
    tools: TOOLS.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
  }),
  responses: (steps) => ({
    max_output_tokens: 256,
    store: false,
    instructions: INSTRUCTIONS,
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: QUESTION }] },
      ...steps.flatMap(({ tool, path, result }, at) => [
        {
          type: 'function_call',
          call_id: `call_${at}`,
          name: tool,
          arguments: JSON.stringify({ path }),
        },
        { type: 'function_call_output', call_id: `call_${at}`, output: result },
      ]),
    ],
    tools: TOOLS.map((tool) => ({ type: 'function', ...tool, strict: false })),
  }),
};
