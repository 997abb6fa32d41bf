import { expect } from 'chai';
import { formatDuration, formatSize } from '../../src/gateway/config-units.js';

describe('a duration and a size in the words of gateway.yaml', () => {
  it('have the largest unit of which they are a whole number', () => {
    const durations = [0, 1, 1500, 90_000, 60_000, 7_200_000, 2_592_000_000].map(formatDuration);
    expect(durations).to.deep.equal(['0ms', '1ms', '1500ms', '90s', '1m', '2h', '30d']);
    expect([0, 1500, 65_536, 20_971_520].map(formatSize)).to.deep.equal([
      '0b',
      '1500b',
      '64kb',
      '20mb',
    ]);
  });
});
