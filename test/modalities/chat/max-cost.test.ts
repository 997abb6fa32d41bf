import { expect } from 'chai';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { chatMaxCost, maxTokens } from '../../../src/modalities/chat/max-cost.js';
import { tokenCost } from '../../../src/billing/bill.js';
import { chatWork } from '../../../src/modalities/chat/formats/openai-request.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { FREE, modelAt, PRICE } from '../../billing/helpers/terms.js';
import type { Price } from '../../../src/core/model.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const provider = providerAt('http://127.0.0.1');

/** What templates put around a prompt and a message: a few tokens at the providers known. */
const AROUND = 12;
const AROUND_MESSAGE = 8;

const inside = { disallowedSpecial: new Set<string>() };
const alphabets = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(
    '今日は世界',
    'こんにちは',
    'Здравствуй',
    'مرحبا',
    'שלום',
    'สวัสดี',
    '👩‍👩‍👧‍👦',
    '𓀀𓁐',
    'ꙮ',
  ),
  fc
    .array(fc.constantFrom('\u0300', '\u200d', '\ufeff', '<|endoftext|>', '\0'))
    .map((all) => all.join('')),
);
const messages: fc.Arbitrary<ChatMessage[]> = fc.array(
  fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), content: alphabets }),
    fc.record({ role: fc.constant('user' as const), name: alphabets, content: alphabets }),
    fc.record({
      role: fc.constant('user' as const),
      content: fc.array(fc.record({ type: fc.constant('text' as const), text: alphabets })),
    }),
    fc.record({ role: fc.constant('tool' as const), content: alphabets, tool_call_id: alphabets }),
    alphabets.map((text): ChatMessage => {
      const call = {
        id: text,
        type: 'function' as const,
        function: { name: text, arguments: text },
      };
      return { role: 'assistant', content: null, tool_calls: [call] };
    }),
  ),
  { minLength: 1, maxLength: 5 },
);
const nano = fc.bigInt({ min: 0n, max: 10n ** 12n });
const prices: fc.Arbitrary<Price> = fc.record(
  {
    free: fc.constant(false),
    input_nano_per_million: nano,
    output_nano_per_million: nano,
    cached_input_nano_per_million: nano,
    cache_write_nano_per_million: nano,
    audio_input_nano_per_million: nano,
    audio_output_nano_per_million: nano,
  },
  { requiredKeys: ['free', 'input_nano_per_million', 'output_nano_per_million'] },
);
/** Parts of a whole; those of the prompt are taken one after the other. */
const part = fc.double({ min: 0, max: 1, noNaN: true });
const parts = fc.record({ used: part, cached: part, written: part, voice: part });

/** Every text that a model could be shown, token by token. */
function tokensOf(all: readonly ChatMessage[]): number {
  const texts = all.flatMap(({ content, name, tool_calls, tool_call_id }) => [
    ...(typeof content === 'string' ? [content] : (content ?? []).map(textOf)),
    name ?? '',
    tool_call_id ?? '',
    ...(tool_calls ?? []).flatMap(({ id, function: call }) => [id, call.name, call.arguments]),
  ]);
  const sum = texts.reduce((tokens, text) => tokens + countTokens(text, inside), 0);
  return AROUND + AROUND_MESSAGE * all.length + sum;
}

function textOf(part: object): string {
  return 'text' in part && typeof part.text === 'string' ? part.text : '';
}

describe('the max cost of a chat call', () => {
  it('is never below what it can cost, in any alphabet and at any of its upstreams', () => {
    const calls = fc.record({ messages, n: fc.integer({ min: 1, max: 128 }) });
    const all = fc.array(prices, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        calls,
        all,
        fc.integer({ min: 1, max: 10_000 }),
        parts,
        (call, list, max, { used, cached, written, voice }) => {
          const model = modelAt(list);
          const work = chatWork({ model: 'm', ...call, max_tokens: max }, model);
          const bound = chatMaxCost(work, model, model.upstreams);
          const prompt_tokens = tokensOf(call.messages);
          const completion_tokens = Math.floor(used * max * call.n);
          const cached_tokens = Math.floor(cached * prompt_tokens);
          const usage = {
            prompt_tokens,
            completion_tokens,
            cached_tokens,
            cache_write_tokens: Math.floor(written * (prompt_tokens - cached_tokens)),
            audio_output_tokens: Math.floor(voice * completion_tokens),
          };
          for (const price of list) expect(bound >= tokenCost(usage, price)).to.equal(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  const long = 'x'.repeat(10_000);
  const call = { id: long, type: 'function' as const, function: { name: 'f', arguments: '' } };
  const GROWING: [string, ChatMessage][] = [
    ['text', { role: 'user', content: long }],
    ['a part', { role: 'user', content: [{ type: 'text', text: long }] }],
    ['a name', { role: 'user', content: '', name: long }],
    ['a tool call', { role: 'assistant', content: null, tool_calls: [call] }],
    ['a tool call id', { role: 'tool', content: '', tool_call_id: long }],
  ];
  for (const [name, message] of GROWING) {
    it(`grows with ${name}`, () => {
      const model = modelAt([PRICE]);
      const work = chatWork({ model: 'm', messages: [message] }, model);
      expect(maxTokens(work, model, provider).prompt_tokens).to.be.greaterThan(10_000);
    });
  }

  for (const [max, n, reads] of [
    [Infinity, 1, 1],
    [Infinity, 5, 1],
    [1, 5, 5],
    [4, 5, 2],
  ] as const) {
    it(`holds the prompt ${reads} times for n ${n} where a call takes at most ${max}`, () => {
      const operations = new Map([['chat', { path: '/', codec: undefined, max }]]);
      const model = modelAt([PRICE]);
      const work = chatWork({ model: 'm', messages: [{ role: 'user', content: '' }], n }, model);
      const { prompt_tokens } = maxTokens(work, model, { ...provider, operations });
      expect(prompt_tokens).to.equal(80 * reads);
    });
  }

  const user = { role: 'user' as const, content: '' };
  const image = { type: 'image_url' as const, image_url: { url: 'https://x.example/1.png' } };
  const audio = {
    type: 'input_audio' as const,
    input_audio: { data: 'A'.repeat(6_400), format: 'wav' },
  };
  const KNOWN: [string, object, object][] = [
    ['one empty message', {}, { prompt_tokens: 80, completion_tokens: 4_096 }],
    ['max_tokens', { max_tokens: 7 }, { prompt_tokens: 80, completion_tokens: 7 }],
    ['its newer name', { max_completion_tokens: 7 }, { prompt_tokens: 80, completion_tokens: 7 }],
    ['n', { max_tokens: 7, n: 3 }, { prompt_tokens: 80, completion_tokens: 21 }],
    ['two messages', { messages: [user, user] }, { prompt_tokens: 96, completion_tokens: 4_096 }],
    [
      'two images',
      { messages: [{ role: 'user', content: [image, image] }] },
      { prompt_tokens: 4_080, completion_tokens: 4_096 },
    ],
    [
      'audio',
      { messages: [{ role: 'user', content: [audio] }] },
      { prompt_tokens: 240, completion_tokens: 4_096, audio_input_tokens: 160 },
    ],
    ['tools', { tools: [{ type: 'function' }] }, { prompt_tokens: 101, completion_tokens: 4_096 }],
  ];
  for (const [name, more, most] of KNOWN) {
    it(`reckons with ${name}`, () => {
      const model = modelAt([PRICE]);
      const work = chatWork({ model: 'm', messages: [user], ...more }, model);
      expect(maxTokens(work, model, provider)).to.deep.equal(most);
    });
  }

  const STATED: [string, object, object][] = [
    ['what its provider adds to a prompt', {}, { prompt_tokens: 180, completion_tokens: 7 }],
    [
      'more with tools',
      { tools: [{ type: 'function' }] },
      { prompt_tokens: 901, completion_tokens: 7 },
    ],
    [
      'what an image costs there',
      { messages: [{ role: 'user', content: [image] }] },
      { prompt_tokens: 180 + 8_512, completion_tokens: 7 },
    ],
  ];
  for (const [name, more, most] of STATED) {
    it(`reckons with ${name}, as a manifest states it`, () => {
      const model = modelAt([PRICE]);
      model.limits.image_tokens = undefined;
      const hidden_tokens = { base: 100, tools: 700 };
      const stating = providerAt('http://127.0.0.1', { hidden_tokens, image_tokens: 8_512 });
      const body = { model: 'm', messages: [user], max_tokens: 7, ...more };
      expect(maxTokens(chatWork(body, model), model, stating)).to.deep.equal(most);
    });
  }

  it('holds sound at the price of sound, and text at the dearest that a cache makes of it', () => {
    const price = {
      ...PRICE,
      cache_write_nano_per_million: 200_000_000n,
      audio_input_nano_per_million: 1_000_000_000n,
      audio_output_nano_per_million: 2_000_000_000n,
    };
    const model = modelAt([price], 100);
    const messages = [{ role: 'user' as const, content: [audio] }];
    const work = chatWork({ model: 'm', messages }, model);
    expect(chatMaxCost(work, model, model.upstreams)).to.equal(
      80n * 200n + 160n * 1_000n + 100n * 2_000n,
    );
  });

  it('is that of the upstream where the same tokens cost most, with what it adds', () => {
    const hidden_tokens = { base: 1_000, tools: 0 };
    const stating = upstreamAt(providerAt('http://127.0.0.1', { hidden_tokens }), { price: PRICE });
    const model = modelAt([PRICE], 100);
    const work = chatWork({ model: 'm', messages: [user] }, model);
    expect(chatMaxCost(work, model, [...model.upstreams, stating])).to.equal(222_000n);
  });

  it('is nothing where all upstreams are free, and the dearest where one is not', () => {
    const bounds = [[FREE], [FREE, PRICE]].map((list) => {
      const model = modelAt(list, 100);
      return chatMaxCost(chatWork({ model: 'm', messages: [user] }, model), model, model.upstreams);
    });
    expect(bounds).to.deep.equal([0n, 72_000n]);
  });
});
