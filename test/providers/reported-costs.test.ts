import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { chat as anthropic } from '../../providers/anthropic.js';
import { chat as bedrock } from '../../providers/bedrock.js';
import { chat as gemini } from '../../providers/gemini.js';
import { chat as openai } from '../../providers/openai.js';
import { readUsage, tokenCost } from '../../src/billing/bill.js';
import type { Price } from '../../src/core/model.js';
import type { UpstreamUsage } from '../../src/core/usage.js';
import type { ChatCodec, ChatDelta } from '../../src/modalities/chat/codec.js';
import { UsageReport } from '../../src/modalities/chat/usage-report.js';
import { eventFrame } from '../helpers/aws-frames.js';
import { callOf } from '../helpers/claude.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const MANIFEST = new URL('../../providers/openai.yaml', import.meta.url);
const { wire: OPENAI } = parse(readFileSync(MANIFEST, 'utf8')) as { wire: object };
const LIMITS = { event_bytes: 100_000, stream_bytes: 1_000_000 };

type Json = Record<string, unknown>;

/** One answer, whole and as a stream, and what it says of its cost beside plain tokens. */
interface Answer {
  by: string;
  codec: ChatCodec;
  model: string;
  wire?: Json;
  whole: Json;
  events: readonly Json[];
  usage: UpstreamUsage;
}

function chatAnswer(by: string, more: Json, reported: UpstreamUsage, message: Json = {}): Answer {
  const { usage: classes, ...beside } = more;
  const usage = { prompt_tokens: 90, completion_tokens: 9, ...(classes as Json) };
  const said = { content: 'Hi', ...message };
  const end = { index: 0, finish_reason: 'stop' };
  return {
    by,
    codec: openai,
    model: 'any',
    whole: { choices: [{ ...end, message: said }], usage, ...beside },
    events: [
      { choices: [{ index: 0, delta: said }], ...beside },
      { choices: [{ ...end, delta: {} }] },
      { choices: [], usage },
    ],
    usage: { prompt_tokens: 90, completion_tokens: 9, ...reported },
  };
}

function messagesAnswer(by: string, classes: Json, reported: UpstreamUsage): Answer {
  const usage = { input_tokens: 20, output_tokens: 9, ...classes };
  const head = { id: 'msg_1', stop_reason: null };
  const content = [{ type: 'text', text: 'Hi' }];
  return {
    by,
    codec: anthropic,
    model: 'claude-sonnet-4-5',
    whole: { ...head, content, stop_reason: 'end_turn', usage },
    events: [
      { type: 'message_start', message: { ...head, content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: content[0] },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ],
    usage: { completion_tokens: 9, ...reported },
  };
}

function responsesAnswer(by: string, more: Json, items: Json[], reported: UpstreamUsage): Answer {
  const { usage: classes, ...beside } = more;
  const usage = { input_tokens: 90, output_tokens: 9, ...(classes as Json) };
  const output = [...items, { type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }];
  const response = { status: 'completed', usage, ...beside };
  const done = output.map((item, output_index) => ({
    type: 'response.output_item.done',
    output_index,
    item,
  }));
  const begun = { type: 'response.created', response: { service_tier: 'auto', usage: null } };
  return {
    by,
    codec: openai,
    model: 'gpt-5-codex',
    wire: OPENAI as Json,
    whole: { ...response, output },
    events: [begun, ...done, { type: 'response.completed', response }],
    usage: { prompt_tokens: 90, completion_tokens: 9, prompt_tokens_details: {}, ...reported },
  };
}

function geminiAnswer(
  by: string,
  { model = 'gemini-3-pro', usage = {}, groundings = [] }: GeminiAnswer,
  reported: UpstreamUsage,
): Answer {
  const usageMetadata = { promptTokenCount: 90, candidatesTokenCount: 9, ...usage };
  const event = (groundingMetadata: object | undefined, finishReason?: string) => ({
    candidates: [
      {
        index: 0,
        content: { parts: [{ text: 'Hi' }] },
        ...(groundingMetadata && { groundingMetadata }),
        ...(finishReason && { finishReason }),
      },
    ],
    usageMetadata,
  });
  return {
    by,
    codec: gemini,
    model,
    whole: event(groundings.at(-1), 'STOP'),
    events: [...groundings.map((one) => event(one)), event(undefined, 'STOP')],
    usage: { prompt_tokens: 90, completion_tokens: 9, ...reported },
  };
}

interface GeminiAnswer {
  model?: string;
  usage?: object;
  groundings?: object[];
}

function converseAnswer(by: string, more: Json, blocks: Json[], reported: UpstreamUsage): Answer {
  const { usage: classes, ...beside } = more;
  const usage = { inputTokens: 20, outputTokens: 9, ...(classes as Json) };
  const content = [...blocks, { text: 'Hi' }];
  const starts = blocks.map((start, contentBlockIndex) => ({
    event: 'contentBlockStart',
    contentBlockIndex,
    start,
  }));
  return {
    by,
    codec: bedrock,
    model: 'amazon.nova-lite-v1:0',
    whole: { output: { message: { content } }, stopReason: 'end_turn', usage, ...beside },
    events: [
      ...starts,
      { event: 'contentBlockDelta', contentBlockIndex: 9, delta: { text: 'Hi' } },
      { event: 'messageStop', stopReason: 'end_turn' },
      { event: 'metadata', usage, ...beside },
    ],
    usage: { completion_tokens: 9, ...reported },
  };
}

const search = (type?: string): Json => ({
  type: 'web_search_call',
  ...(type && { action: { type } }),
});
const code = (container_id: string): Json => ({ type: 'code_interpreter_call', container_id });
const executed = (index: number, type: string): Json => ({ index, type, output: 'found' });
const ground = (...webSearchQueries: string[]): object => ({ webSearchQueries });

const ANSWERS: readonly Answer[] = [
  chatAnswer('OpenAI, in a tier', { service_tier: 'flex' }, { service_tier: 'flex' }),
  chatAnswer(
    'a server that makes images among text',
    { usage: { completion_tokens_details: { image_tokens: 7 } } },
    { completion_tokens_details: { image_tokens: 7 } },
  ),
  chatAnswer(
    'OpenRouter, with searches and an image that was made',
    {
      usage: {
        server_tool_use: { web_search_requests: 2 },
        completion_tokens_details: { reasoning_tokens: 2, image_tokens: 7 },
      },
      service_tier: 'priority',
    },
    {
      service_tier: 'priority',
      tool_calls: { web_search: 2 },
      completion_tokens_details: { reasoning_tokens: 2, image_tokens: 7 },
    },
  ),
  chatAnswer(
    'xAI, with an image that was read, sources and searches',
    {
      usage: {
        prompt_tokens_details: { text_tokens: 70, audio_tokens: 0, image_tokens: 20 },
        num_sources_used: 4,
        server_side_tool_usage_details: { web_search_calls: 3, x_search_calls: 0 },
      },
    },
    {
      tool_calls: { live_search: 4, web_search: 3 },
      prompt_tokens_details: { audio_tokens: 0, image_tokens: 20 },
    },
  ),
  chatAnswer(
    'Groq, with tools that it ran',
    {},
    { tool_calls: { browser_search: 2, python: 1 } },
    {
      executed_tools: [
        executed(0, 'browser_search'),
        executed(1, 'browser_search'),
        executed(2, 'python'),
        executed(3, 'function'),
      ],
    },
  ),
  chatAnswer(
    'Mistral, with connectors',
    { usage: { connectors: { web_search: 1 } } },
    { tool_calls: { web_search: 1 } },
  ),
  chatAnswer(
    'Alibaba, with its search',
    { usage: { plugins: { search: { count: 1 } } } },
    { tool_calls: { web_search: 1 } },
  ),
  chatAnswer(
    'Google behind chat completions',
    { usage: { extra_properties: { google: { traffic_type: 'ON_DEMAND_FLEX' } } } },
    { service_tier: 'flex' },
  ),
  messagesAnswer(
    'Anthropic, with writes of both lives, a tier and searches',
    {
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 4,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      service_tier: 'priority',
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
    },
    {
      prompt_tokens: 324,
      prompt_tokens_details: {
        cached_tokens: 4,
        cache_write_tokens: 100,
        cache_write_1h_tokens: 200,
      },
      service_tier: 'priority',
      tool_calls: { web_search: 2, web_fetch: 1 },
    },
  ),
  messagesAnswer(
    'Anthropic, with more hours than writes, at its fast speed',
    {
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_1h_input_tokens: 99 },
      speed: 'fast',
      service_tier: 'standard',
    },
    {
      prompt_tokens: 50,
      prompt_tokens_details: {
        cached_tokens: 0,
        cache_write_tokens: 0,
        cache_write_1h_tokens: 30,
      },
      service_tier: 'fast',
    },
  ),
  messagesAnswer(
    'Anthropic, with hours that are no count',
    { cache_creation_input_tokens: 30, cache_creation: { ephemeral_1h_input_tokens: 'x' } },
    { prompt_tokens: 50, prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 30 } },
  ),
  responsesAnswer(
    'the Responses API, which bills the search and not its pages, and code by its container',
    { service_tier: 'flex' },
    [
      search('search'),
      search(),
      search('open_page'),
      search('find_in_page'),
      { type: 'file_search_call' },
      code('a'),
      code('a'),
      code('b'),
      { type: 'image_generation_call' },
    ],
    {
      service_tier: 'flex',
      tool_calls: { web_search: 2, file_search: 1, code_interpreter: 2, image_generation: 1 },
    },
  ),
  responsesAnswer(
    "xAI's Responses API, which counts for itself",
    { server_side_tool_usage: { SERVER_SIDE_TOOL_X_SEARCH: 3 } },
    [search()],
    { tool_calls: { x_search: 3 } },
  ),
  geminiAnswer(
    'Gemini 3, which bills each search, told again with each event',
    {
      groundings: [ground('a', ''), ground('a', 'b')],
      usage: { serviceTier: 'SERVICE_TIER_PRIORITY' },
    },
    { service_tier: 'priority', tool_calls: { google_search: 2 } },
  ),
  geminiAnswer(
    'Gemini 2.5, which bills a prompt with searches, and maps',
    {
      model: 'gemini-2.5-flash',
      groundings: [{ ...ground('a', 'b'), groundingChunks: [{ web: {} }, { maps: {} }] }],
      usage: { trafficType: 'ON_DEMAND' },
    },
    { service_tier: 'on_demand', tool_calls: { google_search: 1, maps: 1 } },
  ),
  geminiAnswer(
    'Gemini that sees and draws',
    {
      usage: {
        serviceTier: 'flex',
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 60 },
          { modality: 'IMAGE', tokenCount: 30 },
        ],
        candidatesTokensDetails: [
          { modality: 'TEXT', tokenCount: 2 },
          { modality: 'IMAGE', tokenCount: 7 },
        ],
      },
    },
    {
      service_tier: 'flex',
      prompt_tokens_details: { image_tokens: 30 },
      completion_tokens_details: { image_tokens: 7 },
    },
  ),
  converseAnswer(
    'Bedrock, with writes of both lives, a tier and a tool of its own',
    {
      serviceTier: { type: 'flex' },
      usage: {
        cacheWriteInputTokens: 300,
        cacheDetails: [
          { ttl: '1h', inputTokens: 200 },
          { ttl: '5m', inputTokens: 100 },
        ],
      },
    },
    [{ toolUse: { type: 'server_tool_use', toolUseId: 't', name: 'nova_grounding' } }],
    {
      prompt_tokens: 320,
      prompt_tokens_details: { cache_write_tokens: 100, cache_write_1h_tokens: 200 },
      service_tier: 'flex',
      tool_calls: { nova_grounding: 1 },
    },
  ),
];

/** Tokens of each class, none of which is in two. */
interface Parts {
  text: number;
  cached: number;
  heard: number;
  seen: number;
  said: number;
  thought: number;
  spoken: number;
  drawn: number;
}

/** Nano-dollars of a token of each class; thoughts cost what is said. */
const EACH = { text: 1, cached: 2, heard: 3, seen: 5, said: 7, thought: 7, spoken: 11, drawn: 13 };
const million = (nano: number): bigint => BigInt(nano) * 1_000_000n;
const CLASSED: Price = {
  free: false,
  input_nano_per_million: million(EACH.text),
  cached_input_nano_per_million: million(EACH.cached),
  audio_input_nano_per_million: million(EACH.heard),
  image_input_nano_per_million: million(EACH.seen),
  output_nano_per_million: million(EACH.said),
  audio_output_nano_per_million: million(EACH.spoken),
  image_output_nano_per_million: million(EACH.drawn),
};

const ofModality = (modality: string, tokenCount: number): object => ({ modality, tokenCount });

/** The answers of the wires that tell sound and images apart. */
function answersOf(parts: Parts): Answer[] {
  const { text, cached, heard, seen, said, thought, spoken, drawn } = parts;
  const prompt = text + cached + heard + seen;
  const input = { cached_tokens: cached, audio_tokens: heard, image_tokens: seen };
  const output = { reasoning_tokens: thought, audio_tokens: spoken, image_tokens: drawn };
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: said + thought + spoken + drawn,
    prompt_tokens_details: input,
    completion_tokens_details: output,
  };
  // What was read from the cache counts in its kind too, and is taken off there.
  const counts = {
    promptTokenCount: prompt,
    cachedContentTokenCount: cached,
    candidatesTokenCount: said + spoken + drawn,
    thoughtsTokenCount: thought,
    promptTokensDetails: [
      ofModality('TEXT', text + cached),
      ofModality('AUDIO', heard + 2),
      ofModality('IMAGE', seen + 3),
    ],
    cacheTokensDetails: [ofModality('AUDIO', 2), ofModality('IMAGE', 3)],
    candidatesTokensDetails: [ofModality('AUDIO', spoken), ofModality('IMAGE', drawn)],
  };
  return [
    chatAnswer('chat completions', { usage }, {}),
    geminiAnswer('Gemini', { usage: counts }, {}),
  ];
}

function streamed({ codec, model, wire = {}, events }: Answer): unknown {
  const upstream = upstreamAt(providerAt('http://fake.invalid', { wire }), { model });
  const report = new UsageReport(0, 1);
  const decoder = report.noting(codec.decodeStream(callOf({ stream: true }), upstream));
  const deltas: ChatDelta[] = [];
  const frames = codec.openFrames?.(LIMITS);
  if (frames) {
    const bytes = events.map(({ event, ...data }) => eventFrame(String(event), data));
    decoder.read(frames.read(Buffer.concat(bytes)), deltas);
    return report.usage;
  }
  decoder.read(
    events.map((data) => ({ event: undefined, data: JSON.stringify(data) })),
    deltas,
  );
  return report.usage;
}

describe('what an upstream reports of its cost beside plain tokens', () => {
  for (const answer of ANSWERS) {
    const { by, codec, model, wire = {}, whole, usage } = answer;
    it(`is read from the answer of ${by}, whole and streamed`, () => {
      const upstream = upstreamAt(providerAt('http://fake.invalid', { wire }), { model });
      expect(codec.decode(whole, callOf(), upstream).usage).to.deep.equal(usage);
      expect(streamed(answer)).to.deep.equal(usage);
    });
  }

  it('costs each token once, at the price of its class, whole and streamed', () => {
    const count = fc.nat({ max: 500 });
    const names = Object.keys(EACH) as (keyof Parts)[];
    const parts = fc.record(
      Object.fromEntries(names.map((name) => [name, count])) as Record<keyof Parts, typeof count>,
    );
    const upstream = upstreamAt(providerAt('http://fake.invalid'), { model: 'gemini-3-pro' });
    fc.assert(
      fc.property(parts, (tokens) => {
        const cost = names.reduce((sum, name) => sum + tokens[name] * EACH[name], 0);
        for (const answer of answersOf(tokens)) {
          const whole = answer.codec.decode(answer.whole, callOf(), upstream).usage;
          for (const told of [whole, streamed(answer)]) {
            const usage = readUsage(told ?? { prompt_tokens: 0, completion_tokens: 0 });
            expect(usage && tokenCost(usage, CLASSED), answer.by).to.equal(BigInt(cost));
          }
        }
      }),
    );
  });

  it('is nothing more where the counters are zero or null', () => {
    const none = { server_tool_use: { web_search_requests: 0 }, num_sources_used: 0, plugins: {} };
    const { whole } = chatAnswer('any', { usage: none, service_tier: null }, {});
    const upstream = upstreamAt(providerAt('http://fake.invalid'));
    expect(openai.decode(whole, callOf(), upstream).usage).to.deep.equal({
      prompt_tokens: 90,
      completion_tokens: 9,
    });
  });
});
