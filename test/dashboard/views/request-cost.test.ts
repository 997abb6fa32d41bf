import { expect } from 'chai';
import { tokenCost } from '../../../src/billing/bill.js';
import type { Price } from '../../../src/core/model.js';
import { costOf } from '../../../src/dashboard/views/request-cost.js';
import { recordAt } from '../../store/requests/helpers.js';

const NOW_MS = Date.parse('2026-11-20T15:42:00Z');
const OLD: Price = {
  free: false,
  input_nano_per_million: 3_000_000_000n,
  output_nano_per_million: 15_000_000_000n,
  cached_input_nano_per_million: 300_000_000n,
};
const NEW: Price = { ...OLD, input_nano_per_million: 5_000_000_000n };
const USAGE = { prompt_tokens: 1_000, completion_tokens: 101, cached_tokens: 600 };

describe('the cost of a request, worked out', () => {
  it('takes each class at the price that yields what was charged', () => {
    const cost_nano = tokenCost(USAGE, OLD);
    const record = recordAt(NOW_MS, { ...USAGE, cost_nano });
    expect(costOf(record, [NEW, OLD])).to.deep.equal({
      total_nano: 2_895_000n,
      lines: [
        line('Input', 400, OLD.input_nano_per_million, 1_200_000n),
        line('Cached input', 600, 300_000_000n, 180_000n),
        line('Output', 101, OLD.output_nano_per_million, 1_515_000n),
      ],
    });
  });

  it('takes the prices of a long prompt, unless the prompt was read several times', () => {
    const long_prompt = { above_tokens: 999, input_nano_per_million: 6_000_000_000n };
    const { long_prompt: _, ...long } = { ...OLD, ...long_prompt, long_prompt };
    for (const price of [long, OLD]) {
      const record = recordAt(NOW_MS, { ...USAGE, cost_nano: tokenCost(USAGE, price) });
      const [first] = costOf(record, [{ ...OLD, long_prompt }]).lines;
      expect(first?.price_nano).to.equal(price.input_nano_per_million);
    }
  });

  it('takes the prices of a tier that explain it, with calls of tools and the fee', () => {
    const price: Price = {
      ...OLD,
      tiers: new Map([['flex', { output_nano_per_million: 7_000_000_000n }]]),
      per_tool_call: new Map([['web_search', 10_000_000n]]),
      per_request: 1_000_000n,
    };
    const cost_nano = 1_200_000n + 180_000n + 101n * 7_000n + 20_000_000n + 1_000_000n;
    const record = recordAt(NOW_MS, { ...USAGE, units: { web_search: 2 }, cost_nano });
    expect(costOf(record, [price]).lines.slice(2)).to.deep.equal([
      line('Output', 101, 7_000_000_000n, 707_000n),
      { ...line('Calls of web_search', 2, 10_000_000n, 20_000_000n), by_million: false },
      { ...line('Fee of the call', 1, 1_000_000n, 1_000_000n), by_million: false },
    ]);
  });

  it('counts what could not be collected as a part of the cost', () => {
    const cost_nano = tokenCost(USAGE, OLD) - 1_000n;
    const record = recordAt(NOW_MS, { ...USAGE, cost_nano, uncollected_nano: 1_000n });
    expect(costOf(record, [OLD]).lines).to.have.length(3);
  });

  it('spreads over images what tokens do not explain', () => {
    const none = { prompt_tokens: 18, completion_tokens: 0 };
    const record = recordAt(NOW_MS, { ...none, units: { images: 2 }, cost_nano: 80_000_000n });
    const price = { ...OLD, input_nano_per_million: 0n, output_nano_per_million: 0n };
    const images = { ...line('Images', 2, 40_000_000n, 80_000_000n), by_million: false };
    expect(costOf(record, [price]).lines).to.deep.equal([images]);
  });

  it('spreads the whole cost over seconds of video, which have no tokens', () => {
    const none = { prompt_tokens: 0, completion_tokens: 0 };
    const units = { video_seconds: 8 };
    const record = recordAt(NOW_MS, { ...none, units, cost_nano: 320_000_000n });
    const video = line('Seconds of video', 8, 40_000_000n, 320_000_000n);
    expect(costOf(record, []).lines).to.deep.equal([{ ...video, by_million: false }]);
  });

  it('divides by seconds of audio to the millisecond', () => {
    const none = { prompt_tokens: null, completion_tokens: null };
    const units = { audio_seconds: 12.345 };
    const record = recordAt(NOW_MS, { ...none, units, cost_nano: 1_234_500n });
    const audio = line('Seconds of audio', 12.345, 100_000n, 1_234_500n);
    expect(costOf(record, []).lines).to.deep.equal([{ ...audio, by_million: false }]);
  });

  it('invents no price where it knows none that fits', () => {
    const record = recordAt(NOW_MS, { ...USAGE, cost_nano: 7n });
    expect(costOf(record, [OLD, NEW])).to.deep.equal({ lines: [], total_nano: 7n });
    expect(costOf(record, [])).to.deep.equal({ lines: [], total_nano: 7n });
    const free = recordAt(NOW_MS, { ...USAGE, cost_nano: 0n });
    expect(costOf(free, [OLD])).to.deep.equal({ lines: [], total_nano: 0n });
  });

  function line(name: string, count: number, price_nano: bigint, cost_nano: bigint) {
    return { name, count, price_nano, by_million: true, cost_nano };
  }
});
