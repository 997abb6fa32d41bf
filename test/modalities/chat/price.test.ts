import { expect } from 'chai';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import {
  chatMaxCost,
  maxTokens,
  chatBill,
  type Terms,
} from '../../../src/modalities/chat/price.js';
import { chat as openai } from '../../../providers/openai.js';
import { UsageReport } from '../../../src/modalities/chat/usage-report.js';
import { tokenCost, type Bill } from '../../../src/billing/bill.js';
import { cardOf } from '../../../src/billing/rate-card.js';
import { rateCards, reportsOf } from '../../billing/helpers/rate-cards.js';
import { chatRequest } from '../../../src/modalities/chat/formats/chat-completion.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { FREE, modelAt, PRICE, termsOf } from '../../billing/helpers/terms.js';
import type { Price } from '../../../src/core/model.js';
import { signedId } from '../../../src/lib/tool-id.js';
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
    image_output_nano_per_million: nano,
    long_prompt: fc.record(
      {
        above_tokens: fc.integer({ min: 1, max: 500 }),
        input_nano_per_million: nano,
        cached_input_nano_per_million: nano,
        output_nano_per_million: nano,
      },
      { requiredKeys: ['above_tokens'] },
    ),
  },
  { requiredKeys: ['free', 'input_nano_per_million', 'output_nano_per_million'] },
);
/** Parts of a whole; those of the prompt are taken one after the other. */
const part = fc.double({ min: 0, max: 1, noNaN: true });
const parts = fc.record({ used: part, cached: part, written: part, voice: part, drawn: part });

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
        (call, list, max, { used, cached, written, voice, drawn }) => {
          const model = modelAt(list);
          const work = chatRequest({ model: 'm', ...call, max_tokens: max }, model);
          const bound = chatMaxCost(work, model, model.upstreams);
          const prompt_tokens = tokensOf(call.messages);
          const completion_tokens = Math.floor(used * max * call.n);
          const cached_tokens = Math.floor(cached * prompt_tokens);
          const audio_output_tokens = Math.floor(voice * completion_tokens);
          const usage = {
            prompt_tokens,
            completion_tokens,
            cached_tokens,
            cache_write_tokens: Math.floor(written * (prompt_tokens - cached_tokens)),
            audio_output_tokens,
            image_output_tokens: Math.floor(drawn * (completion_tokens - audio_output_tokens)),
          };
          for (const price of list) {
            const cost = tokenCost(usage, cardOf(price, { prompt_tokens }));
            expect(bound >= cost).to.equal(true);
          }
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
      const work = chatRequest({ model: 'm', messages: [message] }, model);
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
      const work = chatRequest({ model: 'm', messages: [{ role: 'user', content: '' }], n }, model);
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
      { prompt_tokens: 4_080, completion_tokens: 4_096, image_input_tokens: 4_000 },
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
      const work = chatRequest({ model: 'm', messages: [user], ...more }, model);
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
      { prompt_tokens: 180 + 8_512, completion_tokens: 7, image_input_tokens: 8_512 },
    ],
  ];
  for (const [name, more, most] of STATED) {
    it(`reckons with ${name}, as a manifest states it`, () => {
      const model = modelAt([PRICE]);
      model.limits.image_tokens = undefined;
      const hidden_tokens = { base: 100, tools: 700 };
      const stating = providerAt('http://127.0.0.1', { hidden_tokens, image_tokens: 8_512 });
      const body = { model: 'm', messages: [user], max_tokens: 7, ...more };
      expect(maxTokens(chatRequest(body, model), model, stating)).to.deep.equal(most);
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
    const work = chatRequest({ model: 'm', messages }, model);
    expect(chatMaxCost(work, model, model.upstreams)).to.equal(
      80n * 200n + 160n * 1_000n + 100n * 2_000n,
    );
  });

  it('holds images at the price of images, and an answer as if all of it were images', () => {
    const price = {
      ...PRICE,
      image_input_nano_per_million: 1_000_000_000n,
      image_output_nano_per_million: 2_000_000_000n,
    };
    const model = modelAt([price], 100);
    const messages = [{ role: 'user' as const, content: [image] }];
    const work = chatRequest({ model: 'm', messages }, model);
    expect(chatMaxCost(work, model, model.upstreams)).to.equal(
      80n * 150n + 2_000n * 1_000n + 100n * 2_000n,
    );
  });

  it('is that of the upstream where the same tokens cost most, with what it adds', () => {
    const hidden_tokens = { base: 1_000, tools: 0 };
    const stating = upstreamAt(providerAt('http://127.0.0.1', { hidden_tokens }), { price: PRICE });
    const model = modelAt([PRICE], 100);
    const work = chatRequest({ model: 'm', messages: [user] }, model);
    expect(chatMaxCost(work, model, [...model.upstreams, stating])).to.equal(222_000n);
  });

  it('is nothing where all upstreams are free, and the dearest where one is not', () => {
    const bounds = [[FREE], [FREE, PRICE]].map((list) => {
      const model = modelAt(list, 100);
      return chatMaxCost(
        chatRequest({ model: 'm', messages: [user] }, model),
        model,
        model.upstreams,
      );
    });
    expect(bounds).to.deep.equal([0n, 72_000n]);
  });
});

const HELLO = { messages: [{ role: 'user' as const, content: 'Hello' }] };
const SEARCH = { type: 'web_search' };
const CODE = { type: 'code_interpreter' };
/** Of HELLO: 85 tokens in and 100 out at most. */
const HOLD_NANO = 85n * 150n + 100n * 600n;

/** The bill of a whole answer with these texts, one for each choice, and this usage. */
function billOf(usage: unknown, texts: readonly string[], terms: Terms): Promise<Bill> {
  const report = new UsageReport(0, terms.request.call.n);
  report.add(usage);
  const choices = texts.map((text, index) => ({ index, text }));
  return chatBill(choices, { ...terms, reports: [report] }, true);
}

function estimatedBill(texts: readonly string[], terms: Terms): Promise<Bill> {
  return billOf(undefined, texts, terms);
}

describe('the bill of a call by a rate card', () => {
  const MOST = 80;
  const calls = fc.record({
    price: rateCards,
    asked: fc.constantFrom(undefined, 'auto', 'flex', 'priority', 'default'),
    report: reportsOf(MOST),
    began_ms: fc.nat({ max: 2 ** 41 }),
  });

  it('is never more than the hold, whatever tier and hour it turns out to be of', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async ({ price, asked, report, began_ms }) => {
        const [upstream] = modelAt([price]).upstreams;
        if (!upstream) throw new Error('The model has no upstream.');
        const set = { ...(asked !== undefined && { service_tier: asked }), tools: [SEARCH, CODE] };
        const model = { ...modelAt([price], MOST), upstreams: [{ ...upstream, set }] };
        const terms = {
          ...termsOf(HELLO, [price]),
          model,
          upstream: { ...upstream, set },
          began_ms,
        };
        const hold_nano = chatMaxCost(terms.request, model, model.upstreams);
        // An answer comes in the tier that was asked for, or as any other call.
        const isOther = asked === 'flex' || asked === 'priority' || asked === 'default';
        const service_tier =
          isOther && report.service_tier !== asked ? 'default' : report.service_tier;
        const bill = await billOf({ ...report, service_tier }, [''], { ...terms, hold_nano });
        expect(bill.estimated).to.equal(false);
        expect(bill.cost_nano <= hold_nano, `${bill.cost_nano} of ${hold_nano}`).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  const PRICED = {
    ...PRICE,
    tiers: new Map([['flex', { output_nano_per_million: 300_000_000n }]]),
    per_tool_call: new Map([['web_search', 10_000_000n]]),
    per_request: 1_000n,
  };
  const usage = { prompt_tokens: 9, completion_tokens: 5 };
  const PLAIN_NANO = 9n * 150n + 5n * 600n + 1_000n;
  const KNOWN: [string, object, bigint][] = [
    ['the fee of the call', {}, PLAIN_NANO],
    ['the tier of the answer', { service_tier: 'flex' }, PLAIN_NANO - 5n * 300n],
    ['the plain prices for a tier without prices', { service_tier: 'scale' }, PLAIN_NANO],
    ['each call of a tool', { tool_calls: { web_search: 3 } }, PLAIN_NANO + 30_000_000n],
    ['nothing for a tool without a price', { tool_calls: { file_search: 3 } }, PLAIN_NANO],
  ];
  for (const [name, more, cost_nano] of KNOWN) {
    it(`has ${name}`, async () => {
      const bill = await billOf({ ...usage, ...more }, ['Hello'], termsOf(HELLO, [PRICED]));
      expect(bill.cost_nano).to.equal(cost_nano);
    });
  }

  it('is at the tier that was asked for where the answer names none', async () => {
    const terms = termsOf({ ...HELLO }, [PRICED]);
    const upstream = { ...terms.upstream, set: { service_tier: 'flex' } };
    const bill = await billOf(usage, ['Hello'], { ...terms, upstream });
    expect(bill.cost_nano).to.equal(PLAIN_NANO - 5n * 300n);
    expect(bill.usage.tier).to.equal('flex');
  });

  it('adds up the calls for one answer, each at its own tier, with a fee for each', async () => {
    const terms = termsOf({ ...HELLO, n: 2 }, [PRICED]);
    const reports = ['flex', 'default'].map((service_tier, at) => {
      const report = new UsageReport(at, 1);
      report.add({ ...usage, service_tier, tool_calls: { web_search: 1 } });
      return report;
    });
    const bill = await chatBill([], { ...terms, reports }, true);
    expect(bill.cost_nano).to.equal(2n * PLAIN_NANO - 5n * 300n + 20_000_000n);
    expect(bill.usage).to.deep.equal({
      prompt_tokens: 18,
      completion_tokens: 10,
      tool_calls: { web_search: 2 },
    });
  });

  const HELD: [string, Record<string, unknown>, bigint][] = [
    ['no tools where the call offers none', {}, 0n],
    ['ten calls of a tool that the upstream runs', { tools: [SEARCH] }, 10n],
    ['as many as the tool may be used', { tools: [{ ...SEARCH, max_uses: 2 }] }, 2n],
    ['ten where it says less than none', { tools: [{ ...SEARCH, max_uses: -1_000_000 }] }, 10n],
    ['ten calls of each of two', { tools: [SEARCH, { type: 'web_search_20250305' }] }, 20n],
    ['ten for a search that is no tool', { web_search_options: {} }, 10n],
    ['none for functions', { tools: [{ type: 'function' }] }, 0n],
  ];
  for (const [name, set, tool_calls] of HELD) {
    it(`is held for with ${name}`, () => {
      const { request, model, upstream } = termsOf(HELLO, [PRICED]);
      const held = chatMaxCost(request, model, [{ ...upstream, set }]);
      expect(held).to.equal(HOLD_NANO + 1_000n + tool_calls * 10_000_000n);
    });
  }

  it('is held for with as many calls of tools as the limits of the model say', () => {
    const { request, model, upstream } = termsOf(HELLO, [PRICED]);
    const limits = { ...model.limits, tool_calls: 4 };
    const held = chatMaxCost(request, { ...model, limits }, [
      { ...upstream, set: { tools: [SEARCH] } },
    ]);
    expect(held).to.equal(HOLD_NANO + 1_000n + 40_000_000n);
  });
});

describe('the bill of reported usage', () => {
  const terms = termsOf(HELLO);

  const GOOD: [string, object, bigint][] = [
    ['usual figures', { prompt_tokens: 9, completion_tokens: 5 }, 4350n],
    ['the whole hold', { prompt_tokens: 85, completion_tokens: 100 }, HOLD_NANO],
    ['more than these two', { prompt_tokens: 9, completion_tokens: 5, total_tokens: 99 }, 4350n],
    ['a prompt beyond the hold', { prompt_tokens: 8_512, completion_tokens: 5 }, 1_279_800n],
    ['a nano-dollar beyond the hold', { prompt_tokens: 86, completion_tokens: 100 }, 72_900n],
  ];
  for (const [name, usage, cost_nano] of GOOD) {
    it(`believes ${name}`, async () => {
      const bill = await billOf(usage, ['Hello'], terms);
      expect(bill).to.include({ estimated: false }).and.have.property('cost_nano', cost_nano);
    });
  }

  const BAD: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['text', '9'],
    ['a list', []],
    ['figures in text', { prompt_tokens: '9', completion_tokens: '5' }],
    ['figures that are true', { prompt_tokens: true, completion_tokens: true }],
    ['a negative prompt', { prompt_tokens: -1, completion_tokens: 5 }],
    ['a negative answer', { prompt_tokens: 9, completion_tokens: -5 }],
    ['a fraction', { prompt_tokens: 9, completion_tokens: 0.5 }],
    ['no number', { prompt_tokens: NaN, completion_tokens: 5 }],
    ['infinity', { prompt_tokens: Infinity, completion_tokens: 5 }],
    ['one figure of two', { completion_tokens: 5 }],
    ['an absurdly large prompt', { prompt_tokens: 1e12, completion_tokens: 5 }],
    ['an absurdly large answer', { prompt_tokens: 9, completion_tokens: 10_000_001 }],
    ['no tokens for a text', { prompt_tokens: 9, completion_tokens: 0 }],
  ];
  for (const [name, usage] of BAD) {
    it(`does not believe ${name}`, async () => {
      expect((await billOf(usage, ['Hello'], terms)).estimated).to.equal(true);
    });
  }

  it('believes no tokens where there is no text', async () => {
    const bill = await billOf({ prompt_tokens: 9, completion_tokens: 0 }, ['', ''], terms);
    expect(bill.cost_nano).to.equal(1_350n);
  });

  it('believes tokens without text, which may be hidden', async () => {
    const bill = await billOf({ prompt_tokens: 9, completion_tokens: 50 }, [''], terms);
    expect(bill.cost_nano).to.equal(31_350n);
  });

  it('shows tokens beyond the limit that was sent, which nobody owes', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 150 };
    expect(await billOf(usage, ['Hello'], terms)).to.deep.equal({
      usage,
      cost_nano: 9n * 150n + 100n * 600n,
      not_owed_nano: 50n * 600n,
      estimated: false,
    });
  });

  const CLASSED = {
    ...PRICE,
    cached_input_nano_per_million: 15_000_000n,
    audio_input_nano_per_million: 1_000_000_000n,
    image_input_nano_per_million: 500_000_000n,
    audio_output_nano_per_million: 2_000_000_000n,
    image_output_nano_per_million: 3_000_000_000n,
  };

  it('charges each class at its own price, and shows it', async () => {
    const usage = {
      prompt_tokens: 30,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 10, audio_tokens: 5, image_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 12, audio_tokens: 3, image_tokens: 4 },
    };
    const input_nano = 9n * 150n + 10n * 15n + 5n * 1_000n + 6n * 500n;
    expect(await billOf(usage, ['Hello'], termsOf(HELLO, [CLASSED]))).to.deep.equal({
      usage: {
        prompt_tokens: 30,
        completion_tokens: 20,
        cached_tokens: 10,
        audio_input_tokens: 5,
        image_input_tokens: 6,
        reasoning_tokens: 12,
        audio_output_tokens: 3,
        image_output_tokens: 4,
      },
      cost_nano: input_nano + 13n * 600n + 3n * 2_000n + 4n * 3_000n,
      estimated: false,
      saved_nano: 10n * (150n - 15n),
      missed_nano: 20n * (150n - 15n),
    });
  });

  it('charges the two figures where a class is absurd', async () => {
    const prompt_tokens_details = { cached_tokens: 1e9, audio_tokens: -1 };
    const usage = { prompt_tokens: 30, completion_tokens: 20, prompt_tokens_details };
    const bill = await billOf(usage, ['Hello'], termsOf(HELLO, [CLASSED]));
    expect(bill.cost_nano).to.equal(30n * 150n + 20n * 600n);
  });

  it('owes text before sound, of an answer beyond the limit that was sent', async () => {
    const said = (completion_tokens: number, audio_tokens: number) => ({
      prompt_tokens: 20,
      completion_tokens,
      prompt_tokens_details: { cached_tokens: 20 },
      completion_tokens_details: { audio_tokens },
    });
    const terms_of_sound = termsOf(HELLO, [CLASSED]);
    const mixed = await billOf(said(150, 90), ['Hello'], terms_of_sound);
    expect(mixed.cost_nano).to.equal(20n * 15n + 60n * 600n + 40n * 2_000n);
    expect(mixed.not_owed_nano).to.equal(50n * 2_000n);
    const text = await billOf(said(150, 20), ['Hello'], terms_of_sound);
    expect(text.cost_nano).to.equal(20n * 15n + 100n * 600n);
    expect(text.not_owed_nano).to.equal(30n * 600n + 20n * 2_000n);
  });

  it('owes text, then sound, then images, of an answer beyond the limit that was sent', async () => {
    const usage = {
      prompt_tokens: 20,
      completion_tokens: 180,
      completion_tokens_details: { audio_tokens: 60, image_tokens: 90 },
    };
    const bill = await billOf(usage, ['Hello'], termsOf(HELLO, [CLASSED]));
    expect(bill.cost_nano).to.equal(20n * 150n + 30n * 600n + 60n * 2_000n + 10n * 3_000n);
    expect(bill.not_owed_nano).to.equal(80n * 3_000n);
  });

  it('owes the limit that was sent once for each answer', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 150 };
    const bill = await billOf(usage, ['Hello'], termsOf({ ...HELLO, n: 2 }));
    expect(bill).to.deep.equal({ usage, cost_nano: 91_350n, estimated: false });
  });

  it('believes what fits into the context, several times over, and no more', async () => {
    terms.model.limits.context = 1_000;
    const most = { prompt_tokens: 4_000, completion_tokens: 5 };
    expect((await billOf(most, ['Hello'], terms)).usage).to.deep.equal(most);
    const more = { prompt_tokens: 4_001, completion_tokens: 5 };
    expect((await billOf(more, ['Hello'], terms)).estimated).to.equal(true);
    terms.model.limits.context = undefined;
  });

  it('never bills below nothing, nor answers beyond the limit, whatever it is told', async () => {
    const figure = fc.oneof(fc.anything(), fc.integer(), fc.double(), fc.maxSafeInteger());
    const usage = fc.record({ prompt_tokens: figure, completion_tokens: figure });
    const most_nano = 10_000_000n * 150n + 100n * 600n;
    await fc.assert(
      fc.asyncProperty(fc.oneof(usage, fc.anything()), async (told) => {
        const bill = await billOf(told, ['Hello'], terms);
        expect(bill.cost_nano >= 0n && bill.cost_nano <= most_nano).to.equal(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the bill of an answer whose calls have reported a part', () => {
  const CLASSED = { ...PRICE, cached_input_nano_per_million: 15_000_000n };
  const CACHED = { prompt_tokens: 5_000, prompt_tokens_details: { cached_tokens: 4_990 } };

  /** A bill of two calls, one for each choice. */
  function billOfTwo(usages: readonly unknown[], isComplete: boolean): Promise<Bill> {
    const terms = termsOf({ ...HELLO, n: 2 }, [CLASSED]);
    terms.upstream.provider.operations = new Map([['chat', { path: '', codec: openai, max: 1 }]]);
    const reports = usages.map((usage, at) => {
      const report = new UsageReport(at, 1);
      report.add(usage);
      return report;
    });
    const texts = ['one two three', 'four five'].map((text, index) => ({ index, text }));
    return chatBill(texts, { ...terms, reports }, isComplete);
  }

  it('is the sum of their usage, class by class', async () => {
    const one = { ...CACHED, completion_tokens: 4 };
    const two = { ...one, completion_tokens_details: { reasoning_tokens: 3 } };
    expect(await billOfTwo([one, two], true)).to.deep.equal({
      usage: {
        prompt_tokens: 10_000,
        completion_tokens: 8,
        cached_tokens: 9_980,
        reasoning_tokens: 3,
      },
      cost_nano: 20n * 150n + 9_980n * 15n + 8n * 600n,
      estimated: false,
      saved_nano: 9_980n * (150n - 15n),
      missed_nano: 20n * (150n - 15n),
    });
  });

  it('estimates only the call that has reported nothing, or nonsense', async () => {
    for (const other of [undefined, { prompt_tokens: 9, completion_tokens: -4 }]) {
      const bill = await billOfTwo([{ ...CACHED, completion_tokens: 40 }, other], true);
      expect(bill).to.deep.equal({
        usage: { prompt_tokens: 5_005, completion_tokens: 42, cached_tokens: 4_990 },
        cost_nano: 15n * 150n + 4_990n * 15n + 42n * 600n,
        estimated: true,
        saved_nano: 4_990n * (150n - 15n),
        missed_nano: 15n * (150n - 15n),
      });
    }
  });

  it('estimates only the output that was not reported, also beyond the hold', async () => {
    const bill = await billOfTwo([{ ...CACHED, prompt_tokens: 500_000 }, CACHED], false);
    expect(bill.estimated).to.equal(true);
    expect(bill.usage).to.include({ prompt_tokens: 505_000, completion_tokens: 5 });
    expect(bill.cost_nano).to.equal(495_020n * 150n + 9_980n * 15n + 5n * 600n);
  });
});

describe('an estimated bill', () => {
  it('counts the prompt and what was delivered', async () => {
    const bill = await estimatedBill(['one two three'], termsOf(HELLO));
    const usage = { prompt_tokens: 5, completion_tokens: 3 };
    expect(bill).to.deep.equal({ usage, cost_nano: 2_550n, estimated: true });
  });

  it('counts every choice, each up to the limit of tokens', async () => {
    const texts = ['one two three', 'word '.repeat(500)];
    const { usage } = await estimatedBill(texts, termsOf({ ...HELLO, n: 2 }));
    expect(usage.completion_tokens).to.equal(103);
  });

  it('counts the tools as part of the prompt', async () => {
    const tools = [
      { type: 'function', function: { name: 'weather', description: 'rain '.repeat(50) } },
    ];
    const bare = await estimatedBill(['one'], termsOf(HELLO));
    const laden = await estimatedBill(['one'], termsOf({ ...HELLO, tools }));
    expect(laden.usage.prompt_tokens - bare.usage.prompt_tokens).to.be.greaterThan(50);
  });

  it('counts all that counts as prompt: names, calls and the form of the answer', async () => {
    const long = 'rain '.repeat(50);
    const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: long } };
    const schema = { type: 'json_schema', json_schema: { name: 'x', description: long } };
    const bare = await estimatedBill(['one'], termsOf(HELLO));
    const laden = [
      { messages: [{ ...HELLO.messages[0], role: 'user' as const, content: 'Hello', name: long }] },
      {
        messages: [{ role: 'assistant' as const, content: 'Hello', tool_calls: [call] }],
      },
    ].map((body) => termsOf(body));
    const formed = termsOf(HELLO);
    Object.assign(formed.request.call.fields, { response_format: schema });
    formed.request.size.text_bytes += 400;
    for (const terms of [...laden, formed]) {
      const { usage } = await estimatedBill(['one'], terms);
      expect(usage.prompt_tokens - bare.usage.prompt_tokens).to.be.greaterThan(50);
    }
  });

  it('counts the text of files, and reasoning that goes back to the upstream', async () => {
    const long = 'rain '.repeat(100);
    const text = `data:text/plain;base64,${Buffer.from(long).toString('base64')}`;
    const file = { type: 'file' as const, file: { filename: 'a.txt', file_data: text } };
    const part = { type: 'text' as const, text: 'Hello' };
    const asked = async (messages: ChatMessage[], reasoning_back?: string): Promise<number> => {
      const terms = termsOf({ messages });
      const codec = { path: '', codec: openai, max: 9 };
      const wired = {
        ...terms.upstream.provider,
        wire: { reasoning_back },
        operations: new Map([['chat' as const, codec]]),
      };
      const upstream = { ...terms.upstream, provider: wired };
      return (await estimatedBill(['one'], { ...terms, upstream })).usage.prompt_tokens;
    };
    const user = { role: 'user' as const };
    const bare = await asked([{ ...user, content: [part] }]);
    expect((await asked([{ ...user, content: [part, file] }])) - bare).to.be.within(100, 120);
    const thought = { role: 'assistant' as const, content: 'Hello', reasoning_content: long };
    const detail = { type: 'reasoning.text', text: long, signature: long };
    const { reasoning_content: _, ...spoken } = thought;
    const detailed = { ...spoken, reasoning_details: [detail] };
    expect((await asked([thought], 'reasoning_content')) - bare).to.be.within(100, 120);
    expect((await asked([thought], 'think_tags')) - bare).to.be.within(100, 120);
    expect((await asked([detailed], 'reasoning_details')) - bare).to.be.within(100, 120);
    expect((await asked([thought])) - bare, 'where it is left out').to.be.within(0, 2);
  });

  it("does not count the signature inside a tool call's id", async () => {
    const estimated = async (id: string): Promise<number> => {
      const call = { id, type: 'function' as const, function: { name: 'f', arguments: '{}' } };
      const messages: ChatMessage[] = [
        { role: 'assistant', content: 'Hello', tool_calls: [call] },
        { role: 'tool', content: 'x', tool_call_id: id },
      ];
      return (await estimatedBill(['one'], termsOf({ messages }))).usage.prompt_tokens;
    };
    const signature = Buffer.from('secret '.repeat(200)).toString('base64');
    expect(await estimated(signedId('c', signature))).to.equal(await estimated('c'));
  });

  it('takes images and audio at what the hold took for them', async () => {
    const image = { type: 'image_url' as const, image_url: { url: 'https://x.example/1.png' } };
    const data = 'A'.repeat(40_000);
    const audio = { type: 'input_audio' as const, input_audio: { data, format: 'wav' as const } };
    const messages = [{ role: 'user' as const, content: [image, audio] }];
    const price = {
      ...PRICE,
      audio_input_nano_per_million: 1_000_000_000n,
      image_input_nano_per_million: 500_000_000n,
    };
    const { usage, cost_nano } = await estimatedBill(['one'], termsOf({ messages }, [price]));
    expect(usage).to.deep.include({
      prompt_tokens: 4 + 2_000 + 1_000,
      audio_input_tokens: 1_000,
      image_input_tokens: 2_000,
    });
    expect(cost_nano).to.equal(4n * 150n + 2_000n * 500n + 1_000n * 1_000n + 600n);
  });

  it('costs nothing where the model is free', async () => {
    const bill = await estimatedBill(['one two three'], termsOf(HELLO, [FREE]));
    expect(bill.cost_nano).to.equal(0n);
  });

  it('is never above the hold, in any alphabet and for any answer', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(text, fc.array(text, { maxLength: 4 }), async (content, texts) => {
        const terms = termsOf({ messages: [{ role: 'user', content }] }, [PRICE], 20);
        const { cost_nano } = await estimatedBill(texts, terms);
        expect(cost_nano >= 0n && cost_nano <= (terms.hold_nano ?? 0n)).to.equal(true);
      }),
    );
  });
});
