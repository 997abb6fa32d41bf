import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { check } from '../../src/gateway/check.js';

const HEAD = `owners: { acme: { name: Acme } }
providers:
  openai: { api_key: k }
  azure: { api_key: k, resource: acme }
  openrouter: { api_key: k }
  deepinfra: { api_key: k }
  deepseek: { api_key: k }
  gemini: { api_key: k }
  groq: { api_key: k }
  anthropic: { api_key: k }
  fal: { api_key: k }
  lab: { uses: vllm, base_url: 'http://127.0.0.1:9000/v1' }
models:
`;

const LIMITS = 'limits: { max_tokens: 16384, context: 300000 }';

/** An entry: its ID, the upstreams as `provider model`, its price, and what it can do. */
function entry(id: string, upstreams: string, price: string, work = 'chat'): string {
  const all = upstreams.split(', ').map((one) => {
    const [provider, model] = one.split(' ');
    return `{ provider: ${provider}, model: ${model} }`;
  });
  const limits = work === 'chat' ? `${LIMITS}, ` : '';
  const sells = `capabilities: [${work}], upstreams: [${all.join(', ')}], ${limits}price: ${price}`;
  return `  ${id}: { owner: acme, ${sells} }\n`;
}

/** A price of chat: input, output, and the amounts of other units. */
function tokens(input: number, output: number, more = ''): string {
  return `{ input_per_million: ${fixed(input)}, output_per_million: ${fixed(output)}${more} }`;
}

function fixed(dollars: number): string {
  return dollars.toFixed(9).replace(/0+$/, '').replace(/\.$/, '');
}

const PAID = entry('paid', 'openai gpt-4o', 'list');
const LISTS: readonly (readonly [string, number, number])[] = [
  ['gpt-4o', 2.5, 10],
  ['gpt-4o-mini', 0.15, 0.6],
  ['gpt-4.1', 2, 8],
  ['gpt-5', 1.25, 10],
];

/** All models of a provider at some part of their list prices. */
function margin(provider: string, factor: number): string {
  const vendor = provider === 'openrouter' ? 'openai/' : '';
  const all = LISTS.map(([model, input, output]) => {
    const price = tokens(input * factor, output * factor);
    return entry(`${model}-of-${provider}`, `${provider} ${vendor}${model}`, price);
  });
  return all.join('');
}

const cached = (dollars: number): string => `, cached_input_per_million: ${dollars}`;
const image = (price: string, model = 'openai dall-e-3'): string =>
  entry('a', model, `{ per_image: ${price} }`, 'image');
const video = (price: string): string =>
  entry('a', 'fal fal-ai/m', `{ per_video_second: ${price} }`, 'video');

/** The models of a file, and the words of each warning of a price. */
type Case = [name: string, models: string, ...warnings: RegExp[]];

const CASES: readonly Case[] = [
  ['a tenth at Azure', entry('a', 'azure gpt-4o', tokens(0.25, 1)), /off_list.*1\/10 of/],
  ['a tenth at a reseller', entry('a', 'openrouter openai/gpt-4o', tokens(0.25, 1)), /1\/10 of/],
  ['a tenth of a snapshot', entry('a', 'azure gpt-4o-2024-08-06', tokens(0.25, 1)), /1\/10 of/],
  ['a tenth of a deployment', entry('gpt-4o', 'azure prod-1', tokens(0.25, 1)), /1\/10 of/],
  [
    'a tenth of the latest',
    entry('a', 'deepinfra mistralai/mistral-large', tokens(0.05, 0.15)),
    /1\/10 of/,
  ],
  ['free at Azure', PAID + entry('a', 'azure gpt-4o', 'free'), /is free, and "gpt-4o" costs 2.50/],
  ['free at a reseller', PAID + entry('a', 'openrouter openai/gpt-4o', 'free'), /is free/],
  ['free of an unlisted model', PAID + entry('a', 'deepseek deepseek-new', 'free'), /costs money/],
  ['free by its name', PAID + entry('a', 'openrouter google/gemma-3-27b-it:free', 'free')],
  ['free of an own server', PAID + entry('a', 'lab llama', 'free')],
  ['free moderation', PAID + entry('a', 'openai omni-moderation-latest', 'free', 'moderation')],
  ['nothing at Azure', entry('a', 'azure gpt-4o', tokens(0, 0)), /far below.*price: free/],
  ['cents', entry('a', 'deepinfra openai/gpt-oss-120b', tokens(3.7, 17)), /in cents/],
  ['a hundredth', entry('a', 'deepinfra openai/gpt-oss-120b', tokens(0.00037, 0.0017)), /1\/100/],
  [
    'a slip, Azure first',
    entry('a', 'azure gpt-4o-mini, openai gpt-4o-mini', tokens(0.15, 6)),
    /"6" is 10 times/,
  ],
  [
    'a slip, Azure last',
    entry('a', 'openai gpt-4o-mini, azure gpt-4o-mini', tokens(0.15, 6)),
    /"6" is 10 times/,
  ],
  [
    'a slip of the cache, Azure first',
    entry('a', 'azure gpt-4o-mini, openai gpt-4o-mini', tokens(0.15, 0.6, cached(0.75))),
    /"0.75" is 10 times/,
  ],
  [
    'a slip of the cache, Azure last',
    entry('a', 'openai gpt-4o-mini, azure gpt-4o-mini', tokens(0.15, 0.6, cached(0.75))),
    /"0.75" is 10 times/,
  ],
  ['five times of all', margin('openai', 5), /are 5 times.*so it is at .*; write/],
  ['five times of all, resold', margin('openrouter', 5), /are 5 times.*so it is at .*; write/],
  ['half of all', margin('openai', 0.5), /1\/2 of.*so it is at .*; write/],
  ['all at cost', margin('openai', 1) + margin('azure', 1)],
  ['a margin of 30 %', margin('openai', 1.3) + margin('openrouter', 1.3)],
  ['a margin of 100 %', margin('openai', 2) + margin('azure', 2) + margin('openrouter', 2)],
  ['cheap hosts of open weights', entry('a', 'deepinfra openai/gpt-oss-120b', tokens(0.05, 0.25))],
  [
    'a cache above input',
    entry('a', 'openai gpt-4o', tokens(2.5, 10, cached(3))),
    /order.*"3" is more/,
  ],
  [
    'a cache above input, unlisted',
    entry('a', 'lab m', tokens(0.15, 0.6, cached(0.75))),
    /order.*"0.75" is more/,
  ],
  ['output below input', entry('a', 'openai gpt-4o', tokens(5, 4)), /order.*"4" is below/],
  [
    'output below input, unlisted',
    entry('a', 'lab m', tokens(0.6, 0.15)),
    /order.*"0.15" is below/,
  ],
  ['both swapped', entry('a', 'azure gpt-4o', tokens(10, 2.5)), /input and output were swapped/],
  ['batches', entry('a', 'openai gpt-4o-mini', tokens(0.075, 0.3)), /calls went in batches/],
  ['less than half, unevenly', entry('a', 'openai gpt-4o', tokens(1.25, 4)), /each call is a loss/],
  [
    'a dear fallback',
    entry('a', 'openai gpt-4o-mini, azure gpt-4o', tokens(0.15, 0.6)),
    /"gpt-4o" costs 10.00, and this model charges 0.60/,
  ],
  [
    'a dear main upstream',
    entry('a', 'azure gpt-4o, openai gpt-4o-mini', tokens(0.15, 0.6)),
    /"gpt-4o" costs 10.00/,
  ],
  ["a server of one's own first", entry('a', 'lab m, openai gpt-4o-mini', tokens(0.15, 0.6))],
  ['ten times an image', image('0.4'), /off_list.*"0.4" is 3.3 times/],
  ['a hundred times an image', image('4'), /"4" is 33 times/],
  ['a tenth of an image', image('0.004'), /"0.004" is 1\/10 of/],
  [
    'qualities in cents',
    image('{ low: 1, standard: 4, hd: 17 }', 'openai gpt-image-1'),
    /low.*standard.*hd are 63 times .*cents/,
  ],
  [
    'a point of one quality',
    image('{ low: 0.011, medium: 0.42, high: 0.5 }', 'openai gpt-image-1'),
    /medium: "0.42" is 6.7 times/,
  ],
  [
    'a model whose name begins with that of a dearer one',
    image('{ low: 0.4, standard: 0.4, hd: 0.4 }', 'openai gpt-image-1-mini'),
    /of "gpt-image-1-mini", 0.052/,
  ],
  ['a sound price of images', image('{ standard: 0.04, hd: 0.08 }')],
  ['an unlisted image in cents', image('4', 'openai tiny'), /magnitude.*cents.*write 0.04/],
  ['an image for nothing', image('0.00004', 'openai tiny'), /magnitude.*write 0.04/],
  [
    'quality turned',
    image('{ standard: 0.042, hd: 0.0167 }', 'openai tiny'),
    /order.*for hd is less/,
  ],
  [
    'embeddings by thousands',
    entry('a', 'openai text-embedding-3-small', '{ input_per_million: 0.00002 }', 'embedding'),
    /a thousand tokens/,
  ],
  [
    'embeddings by one token',
    entry('a', 'azure text-embedding-3-small', '{ input_per_million: 0.00000002 }', 'embedding'),
    /for one token/,
  ],
  [
    'embeddings in cents',
    entry('a', 'azure text-embedding-3-large', '{ input_per_million: 13 }', 'embedding'),
    /in cents/,
  ],
  [
    'thousands, unlisted',
    entry('a', 'lab m', tokens(0.00015, 0.0006)),
    /magnitude.*write 0.15/,
    /magnitude.*write 0.60/,
  ],
  ['one token, unlisted', entry('a', 'lab m', tokens(0.15, 0.0000006)), /one token.*write 0.60/],
  ['a thousandfold, unlisted', entry('a', 'lab m', tokens(590, 790)), /write 0.59/, /write 0.79/],
  [
    'an hour of sound',
    entry('a', 'openai whisper-1', '{ per_audio_minute: 0.36 }', 'transcription'),
    /for an hour/,
  ],
  [
    'an hour of sound, unlisted',
    entry('a', 'openai tiny', '{ per_audio_minute: 0.36 }', 'transcription'),
    /magnitude.*an hour.*0.006/,
  ],
  [
    'a second of sound',
    entry('a', 'openai tiny', '{ per_audio_minute: 0.0001 }', 'transcription'),
    /a second.*0.006/,
  ],
  [
    'a thousand characters',
    entry('a', 'openai tts-1', '{ per_million_characters: 0.015 }', 'speech'),
    /1\/1000 of/,
  ],
  [
    'characters in cents',
    entry('a', 'openai tiny', '{ per_million_characters: 1500 }', 'speech'),
    /cents.*15.00/,
  ],
  ['a whole video', video('{ 720p: 1.60, 1080p: 3.20 }'), /a whole video.*0.20/],
  [
    'sound turned',
    video('{ 720p: { silent: 0.40, audio: 0.20 }, 1080p: { silent: 0.20, audio: 0.40 } }'),
    /order.*720p audio is less/,
  ],
  [
    'long prompts turned',
    entry(
      'a',
      'lab m',
      tokens(2.5, 15, ', long_prompt: { above_tokens: 200000, input_per_million: 1.25 }'),
    ),
    /order.*"1.25" is less than 2.50/,
  ],
  [
    'long prompts in thousands',
    entry('a', 'lab m', tokens(1, 4, ', long_prompt: { above_tokens: 200, input_per_million: 2 }')),
    /magnitude.*write 200000/,
  ],
  [
    'long prompts uncovered',
    entry('a', 'openrouter google/gemini-2.5-pro', tokens(1.25, 10)),
    /missing_price.*prompts above 200000/,
  ],
  [
    'writes of a cache',
    entry('a', 'openrouter anthropic/claude-haiku-4.5', tokens(1, 5, cached(0.1))),
    /missing_price.*costs 1.25/,
  ],
  [
    'images of every quality',
    entry('a', 'openai gpt-image-1', '{ per_image: 0.04 }', 'image'),
    /missing_price.*costs by quality/,
  ],
];

/** The warnings of prices; those of other rules say nothing here. */
const PRICES = /^(?:price_|missing_price)/;

describe('the warnings of prices', () => {
  let file: string;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-prices-'));
    file = join(folder, 'gateway.yaml');
  });
  after(() => rm(folder, { recursive: true }));

  const warningsOf = async (models: string): Promise<string[]> => {
    await writeFile(file, HEAD + models);
    const { faults } = await check(file, {});
    expect(faults.filter(({ severity }) => severity === 'error')).to.deep.equal([]);
    const told = faults.map(({ code, message, hint }) => `${code}: ${message}; ${hint}`);
    return told.filter((one) => PRICES.test(one));
  };

  for (const [name, models, ...wanted] of CASES) {
    it(`${wanted.length > 0 ? 'tell' : 'are silent about'} ${name}`, async () => {
      const told = await warningsOf(models);
      expect(told).to.have.length(wanted.length);
      told.forEach((one, i) => expect(one).to.match(wanted[i] ?? /^$/));
    });
  }

  it('tell a tier that is dearer than the list', async () => {
    const listed = entry('a', 'openai gpt-5.4', 'list');
    const models = listed.replace('gpt-5.4 }', 'gpt-5.4, set: { service_tier: priority } }');
    expect((await warningsOf(models)).join()).to.match(/"priority" costs more than the list price/);
  });
});
