import { isListPrice } from '../config/price-terms.js';
import { formatDollars } from '../lib/money.js';
import { payersOf } from '../pipeline/model-check.js';
import { quote } from '../yaml/source.js';
import type { Advice } from './advice.js';

/** Models whose sound costs ten times as much as text or more. */
const DEAR_AUDIO = /\bgpt-(?:[\w.]+-)*?(?:audio|realtime)\b/;

/** How many times its price a class may cost before it needs one of its own. */
const MUCH = 3n;

export const audioPrice: Advice = {
  code: 'missing_price',
  saves: 'the price of audio in a prompt, which is many times that of text',
  *check({ source, models }) {
    const hearing = models.filter(({ capabilities }) => capabilities.has('audio'));
    for (const payers of hearing.flatMap((model) => payersOf(model))) {
      const [first] = payers;
      if (!first || isListPrice(source, first.price_at)) continue;
      const { price } = first.upstream;
      const input = price.input_nano_per_million;
      if (input === 0n || price.audio_input_nano_per_million !== undefined) continue;
      const costs = payers.map((one) => one.listed?.price.audio_input_nano_per_million ?? 0n);
      const cost = costs.find((nano) => nano > input * MUCH);
      const named = payers.find(({ upstream: { model } }) => DEAR_AUDIO.test(model));
      if (cost === undefined && !named) continue;
      const charged = `is charged as other input, at ${formatDollars(input)}`;
      const amount = cost === undefined ? ': PRICE' : `: ${formatDollars(cost)}`;
      const model = quote((named ?? first).upstream.model);
      yield {
        pointer: first.price_at,
        message: `price: audio of ${model} costs many times as much as text, and ${charged}`,
        hint: `add audio_input_per_million${amount}`,
      };
    }
  },
};

/** Models of transcription that are billed by the minute of sound, and report no tokens. */
const BY_MINUTE = /(?:^|\/)whisper-?\d/i;

export const minutePrice: Advice = {
  code: 'missing_price',
  saves: 'minutes of sound that no price in tokens charges',
  *check({ source, models }) {
    for (const payers of models.flatMap((model) => payersOf(model))) {
      const timed = payers.find(({ upstream: { model, price } }) => {
        return BY_MINUTE.test(model) && !price.free && price.per_audio_minute === undefined;
      });
      if (!timed || !source.has(`${timed.price_at}/input_per_million`)) continue;
      const model = quote(timed.upstream.model);
      yield {
        pointer: timed.price_at,
        message: `price: ${model} is billed by the minute, and reports no tokens`,
        hint: 'write its price by the minute, such as { per_audio_minute: 0.006 }',
      };
    }
  },
};
