import { expect } from 'chai';
import { meantDuration, meantNumber, meantSize } from '../../src/yaml/meant-values.js';

describe('the guess at what a value means', () => {
  const numbers: [text: string, whole: boolean, meant: string | undefined][] = [
    ['0,15', false, '0.15'],
    ['$0.15', false, '0.15'],
    ['0.15 USD', false, '0.15'],
    ['0.15/1M', false, '0.15'],
    ['1,000.50', false, '1000.50'],
    ['.5', false, '0.5'],
    ['O.15', false, '0.15'],
    ['10%', false, '0.1'],
    ['0.1.5', false, undefined],
    ['cheap', false, undefined],
    ['16k', true, '16000'],
    ['128K', true, '128000'],
    ['1M', true, '1000000'],
    ['16,384', true, '16384'],
    ['16.384', true, '16384'],
    ['16_384', true, '16384'],
    ['16384 tokens', true, '16384'],
    ['80%', true, '80'],
    ['1 light year', true, undefined],
    ['9'.repeat(100), true, undefined],
  ];
  for (const [text, whole, meant] of numbers) {
    it(`reads the number ${text.slice(0, 20)}`, () =>
      expect(meantNumber(text, whole)).to.equal(meant));
  }

  const durations: [text: string, unit: string, meant: string | undefined][] = [
    ['30', 's', '30s'],
    ['30', 'd', '30d'],
    ['60000', 's', '60s'],
    ['1500', 's', '1500ms'],
    ['60 sec', 's', '60s'],
    ['10min', 's', '10m'],
    ['1h30m', 's', '90m'],
    ['2 weeks', 'd', '14d'],
    ['1 hour and 5 minutes', 's', '65m'],
    ['P30D', 'd', '30d'],
    ['PT90M', 's', '90m'],
    ['P1M', 'd', undefined],
    ['forever', 'd', undefined],
    ['2 fortnights', 'd', undefined],
  ];
  for (const [text, unit, meant] of durations) {
    it(`reads the duration ${text}`, () => expect(meantDuration(text, unit)).to.equal(meant));
  }

  const sizes: [text: string, meant: string | undefined][] = [
    ['20', '20mb'],
    ['20971520', '20mb'],
    ['20971521', '20971521b'],
    ['20MB', '20mb'],
    ['20 MiB', '20mb'],
    ['1.5gb', '1536mb'],
    ['20 bytes', '20b'],
    ['many', undefined],
  ];
  for (const [text, meant] of sizes) {
    it(`reads the size ${text}`, () => expect(meantSize(text, 'mb')).to.equal(meant));
  }
});
