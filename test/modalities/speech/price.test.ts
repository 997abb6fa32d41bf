import { expect } from 'chai';
import { charactersOf, speechBill, speechMaxCost } from '../../../src/modalities/speech/price.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const provider = providerAt('https://upstream.example.com');
const NO_TOKENS = { input_nano_per_million: 0n, output_nano_per_million: 0n };
const MILLION = 1_000_000n;

describe('the price of speech', () => {
  it('counts characters as Unicode does, of the text and of the instructions', () => {
    expect(charactersOf({ input: 'é🌍a', instructions: undefined })).to.equal(3);
    expect(charactersOf({ input: 'a', instructions: 'bc' })).to.equal(3);
  });

  it('is what is held, rounded up once to the next nano-dollar', () => {
    for (let at = 1; at <= 300; at += 1) {
      const per_million_characters = BigInt(at * 7_919);
      const price = { free: false, ...NO_TOKENS, per_million_characters };
      const call = { input: '🌍'.repeat(at), instructions: undefined };
      const { cost_nano } = speechBill(call, price);
      const exact = BigInt(at) * per_million_characters;
      expect(cost_nano * MILLION >= exact).to.equal(true);
      expect((cost_nano - 1n) * MILLION < exact).to.equal(true);
      expect(speechMaxCost(call, [upstreamAt(provider, { price })])).to.equal(cost_nano);
    }
  });

  it('is held at the dearest upstream, and nothing where all are free', () => {
    const call = { input: 'a', instructions: undefined };
    const at = (per_million_characters: bigint, free = false) =>
      upstreamAt(provider, { price: { free, ...NO_TOKENS, per_million_characters } });
    expect(speechMaxCost(call, [at(MILLION), at(3n * MILLION), at(2n * MILLION)])).to.equal(3n);
    expect(speechMaxCost(call, [at(MILLION, true)])).to.equal(0n);
  });
});
