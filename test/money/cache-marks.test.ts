import { expect } from 'chai';
import fc from 'fast-check';
import { chat as claude } from '../../providers/anthropic.js';
import { tokenCost } from '../../src/billing/bill.js';
import type { Price } from '../../src/core/model.js';
import type { TokenUsage } from '../../src/core/usage.js';
import { withCacheMarks } from '../../src/modalities/chat/cache-marks.js';
import { chatMaxCost } from '../../src/modalities/chat/price.js';
import { chatCompletion } from '../../src/modalities/chat/formats/chat-completion.js';
import { messages as messagesApi } from '../../src/modalities/chat/formats/messages.js';
import { preparedCodec } from '../../src/modalities/chat/prepared-codec.js';
import { modelAt } from '../billing/helpers/terms.js';
import { CachingClaude, usageOfMessage } from '../helpers/caching-claude.js';
import { claudeAt } from '../helpers/claude.js';
import { play } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';
import { scriptedGateways } from './helpers/scripted-gateway.js';

/** In nano-dollars a token: 1,000 in, 1,250 written, 100 read, 5,000 out. */
const PRICE =
  '{ input_per_million: 1, cache_write_per_million: 1.25, cached_input_per_million: 0.1, output_per_million: 5 }';
const PRICES: Price = {
  free: false,
  input_nano_per_million: 1_000_000_000n,
  cache_write_nano_per_million: 1_250_000_000n,
  cached_input_nano_per_million: 100_000_000n,
  output_nano_per_million: 5_000_000_000n,
};
const LEAST_TOKENS = 1_024;
const ANSWER_TOKENS = 20;

/** One step of a conversation: what the model answers to, and what it answers. */
interface Step {
  asked: number;
  /** It calls a tool with that, whose result the next step asks about. */
  calls: boolean;
}

interface Talk {
  system: number;
  tools: number;
  steps: readonly Step[];
}

type ApiName = 'chat completions' | 'the Messages API';

const words = (count: number, topic: string): string => `${topic} word `.repeat(count);

/** The body of a call of a conversation, the first of which is 0. */
function bodyOf({ system, tools, steps }: Talk, call: number): object {
  const said = steps.slice(0, call + 1).flatMap(({ asked, calls }, at) => {
    const text = words(asked, `step ${at}`);
    const isResult = at > 0 && steps[at - 1]?.calls === true;
    const question = isResult
      ? { role: 'tool', tool_call_id: `call_${at - 1}`, content: text }
      : { role: 'user', content: text };
    if (at === call) return [question];
    const called = { name: 'tool_0', arguments: `{"step":${at}}` };
    const answer = calls
      ? { content: null, tool_calls: [{ id: `call_${at}`, type: 'function', function: called }] }
      : { content: `Answer ${at}.` };
    return [question, { role: 'assistant', ...answer }];
  });
  const offered = Array.from({ length: tools }, (_, at) => ({
    type: 'function',
    function: { name: `tool_${at}`, description: words(30, 'tool'), parameters: {} },
  }));
  return {
    model: 'm',
    max_tokens: 100,
    messages: [
      ...(system > 0 ? [{ role: 'system', content: words(system, 'rule') }] : []),
      ...said,
    ],
    ...(tools > 0 && { tools: offered }),
  };
}

interface OpenaiMessage {
  role: string;
  content: string | null;
  tool_call_id?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

/** The same call in the words of the Messages API. */
function messagesBodyOf(talk: Talk, call: number): object {
  const body = bodyOf(talk, call) as { messages: OpenaiMessage[] };
  const turns = body.messages.filter(({ role }) => role !== 'system');
  const messages = turns.map(({ role, content, tool_call_id, tool_calls }) => {
    if (role === 'tool') {
      const result = { type: 'tool_result', tool_use_id: tool_call_id, content };
      return { role: 'user', content: [result] };
    }
    if (!tool_calls) return { role, content };
    const uses = tool_calls.map(({ id, function: { name, arguments: input } }) => {
      return { type: 'tool_use', id, name, input: JSON.parse(input) as object };
    });
    return { role, content: uses };
  });
  const tools = Array.from({ length: talk.tools }, (_, at) => ({
    name: `tool_${at}`,
    description: words(30, 'tool'),
    input_schema: { type: 'object' },
  }));
  return {
    model: 'm',
    max_tokens: 100,
    messages,
    ...(talk.system > 0 && { system: words(talk.system, 'rule') }),
    ...(talk.tools > 0 && { tools }),
  };
}

const APIS = {
  'chat completions': { bodyOf, format: chatCompletion, path: '/v1/chat/completions' },
  'the Messages API': { bodyOf: messagesBodyOf, format: messagesApi, path: '/v1/messages' },
} as const;

const codec = preparedCodec(claude);
const upstream = claudeAt('claude-sonnet-4-5', { price: PRICES });
const model = { ...modelAt([PRICES], 100), upstreams: [upstream] };

/** What a cache counts of each call of a conversation, with marks or without. */
function usageOfTalk(talk: Talk, api: ApiName, isMarking: boolean, cache = new CachingClaude()) {
  const { bodyOf: write, format } = APIS[api];
  return talk.steps.map((_, at): TokenUsage => {
    const request = format.read(write(talk, at), model, {});
    const sent = isMarking ? withCacheMarks(request.call, { tools: true }) : request.call;
    const { body } = codec.encode(sent, upstream);
    const usage = cache.usageOf(body as Record<string, unknown>, ANSWER_TOKENS);
    const held_nano = chatMaxCost(request, model, [upstream]);
    expect(held_nano - tokenCost(usage, PRICES) >= 0n, 'the hold covers the charge').to.equal(true);
    return usage;
  });
}

function costOf(usage: readonly TokenUsage[]): bigint {
  return usage.reduce((sum, one) => sum + tokenCost(one, PRICES), 0n);
}

const api = fc.constantFrom<ApiName>('chat completions', 'the Messages API');
const length = fc.oneof(fc.nat(20), fc.nat(700));
const step: fc.Arbitrary<Step> = fc.record({
  asked: length.map((n) => n + 1),
  calls: fc.boolean(),
});
const talkOf = (most: number): fc.Arbitrary<Talk> =>
  fc.record({
    system: length,
    tools: fc.integer({ min: 1, max: 6 }),
    steps: fc.array(step, { minLength: 1, maxLength: most }),
  });

describe('cache: auto at a Claude with a cache', () => {
  it('never makes single calls dearer, whatever they share', () => {
    fc.assert(
      fc.property(fc.array(talkOf(1), { minLength: 1, maxLength: 8 }), api, (talks, name) => {
        const [marked, plain] = [new CachingClaude(), new CachingClaude()];
        const cost = talks.flatMap((talk) => usageOfTalk(talk, name, true, marked));
        const usual = talks.flatMap((talk) => usageOfTalk(talk, name, false, plain));
        expect(cost).to.deep.equal(usual);
      }),
      { numRuns: 50 },
    );
  });

  it('reads in each call all that the one before has written, and writes the rest', () => {
    fc.assert(
      fc.property(talkOf(8), api, (talk, name) => {
        const usage = usageOfTalk(talk, name, true);
        const cacheable = usage.map(({ prompt_tokens }, at) =>
          at > 0 && prompt_tokens >= LEAST_TOKENS ? prompt_tokens : 0,
        );
        for (const [at, { cached_tokens, cache_write_tokens }] of usage.entries()) {
          const read = cacheable[at - 1] ?? 0;
          expect(cached_tokens, `read in call ${at}`).to.equal(read);
          expect(cache_write_tokens, `written in call ${at}`).to.equal((cacheable[at] ?? 0) - read);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('costs no more in any conversation of three calls whose prompts at most triple', () => {
    fc.assert(
      fc.property(talkOf(12), api, (talk, name) => {
        const plain = usageOfTalk(talk, name, false);
        const sizes = plain.map(({ prompt_tokens }) => prompt_tokens);
        const grows = sizes.every((size, at) => at < 2 || size <= 3 * (sizes[at - 1] ?? 0));
        fc.pre(sizes.length >= 3 && grows && (sizes[1] ?? 0) >= LEAST_TOKENS);
        expect(Number(costOf(usageOfTalk(talk, name, true)))).to.be.lessThan(Number(costOf(plain)));
      }),
      { numRuns: 50 },
    );
  });
});

const AGENT: Talk = {
  system: 600,
  tools: 8,
  steps: Array.from({ length: 40 }, (_, at) => ({ asked: 60 + (at % 7) * 20, calls: true })),
};

onEachStore("an agent's session of 40 turns with cache: auto", (ground) => {
  const open = scriptedGateways();

  for (const [name, { bodyOf: write, path }] of Object.entries(APIS)) {
    it(`costs a fraction by ${name}, and is charged to the nano-dollar`, async function () {
      this.timeout(120_000);
      const cache = new CachingClaude();
      const usage: TokenUsage[] = [];
      const gateway = await open(
        ({ json }, response) => {
          const counted = cache.usageOf(json as Record<string, unknown>, ANSWER_TOKENS);
          usage.push(counted);
          const answer = {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'claude',
            content: [{ type: 'text', text: 'Go on.' }],
            stop_reason: 'end_turn',
            usage: usageOfMessage(counted),
          };
          const headers = { 'content-type': 'application/json' };
          return play({ headers, body: JSON.stringify(answer) }, response);
        },
        {
          uses: 'anthropic',
          upstreams: '{ provider: up, model: claude-sonnet-4-5 }',
          price: PRICE,
          model: 'cache: auto',
          store: ground.place.url,
        },
      );
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${gateway.secret}`,
      };
      for (const at of AGENT.steps.keys()) {
        const body = JSON.stringify(write(AGENT, at));
        const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body });
        expect(answer.status, await answer.text()).to.equal(200);
        expect(answer.headers.get('tollgate-ignored')).to.equal(null);
      }
      await gateway.settled();
      const charges = await gateway.charges();
      expect(charges).to.have.length(AGENT.steps.length);
      const charged = charges.reduce((sum, { amount_nano }) => sum - amount_nano, 0n);
      expect(charged).to.equal(costOf(usage));
      const plain = usage.map(({ prompt_tokens, completion_tokens }) => {
        return { prompt_tokens, completion_tokens };
      });
      const share = Number(charged) / Number(costOf(plain));
      expect(share).to.be.lessThan(0.17);
    });
  }
});
