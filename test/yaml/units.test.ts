import { expect } from 'chai';
import { parseDuration, parseSize } from '../../src/yaml/units.js';

describe('the reading of durations and sizes', () => {
  const durations: [string, number | undefined][] = [
    ['500ms', 500],
    ['2s', 2000],
    ['1.5s', 1500],
    ['1m', 60_000],
    ['1h', 3_600_000],
    ['2', undefined],
    ['30d', 2_592_000_000],
    ['2w', undefined],
    ['-2s', undefined],
    ['', undefined],
  ];
  for (const [text, ms] of durations) {
    it(`reads the duration ${text || 'of nothing'}`, () =>
      expect(parseDuration(text)).to.equal(ms));
  }

  const sizes: [string, number | undefined][] = [
    ['12b', 12],
    ['64kb', 65_536],
    ['20mb', 20_971_520],
    ['1gb', 1_073_741_824],
    ['20MB', undefined],
    ['1.5mb', undefined],
  ];
  for (const [text, bytes] of sizes) {
    it(`reads the size ${text}`, () => expect(parseSize(text)).to.equal(bytes));
  }
});
