import { expect } from 'chai';
import { margins } from '../../src/gateway/margins.js';
import { modelAt, PRICE } from '../billing/helpers/terms.js';

describe('the margins over a list price that differs by hours', () => {
  it('are those of the lowest off-peak price where a file writes the hours in another way', async () => {
    const hours = { zone: 'UTC', input_nano_per_million: 200_000_000n };
    const price = {
      ...PRICE,
      input_nano_per_million: 300_000_000n,
      off_peak: [
        { ...hours, days: ['sat', 'sun'] as const, from_minute: 0, to_minute: 1_440 },
        { ...hours, from_minute: 600, to_minute: 60, input_nano_per_million: 150_000_000n },
      ],
    };
    const [upstream] = modelAt([price]).upstreams;
    if (!upstream) return expect.fail('no upstream');
    const provider = { ...upstream.provider, manifest: 'deepseek' };
    const [found = []] = await margins([{ ...upstream, provider, model: 'deepseek-flash' }], '/');
    const inputs = found.filter(({ unit }) => unit.endsWith(' input_per_million'));
    expect(inputs.map(({ unit, price: own, percent }) => [unit, own, percent])).to.deep.equal([
      ['off_peak on Mon, Tue, Wed, Thu, Fri from 00:00 to 01:00 UTC input_per_million', '0.15', 0],
      ['off_peak on Mon, Tue, Wed, Thu, Fri from 04:00 to 06:00 UTC input_per_million', '0.15', 0],
      ['off_peak on Mon, Tue, Wed, Thu, Fri from 10:00 to 00:00 UTC input_per_million', '0.15', 0],
      ['off_peak on Sat, Sun UTC input_per_million', '0.20', 25],
    ]);
  });
});
