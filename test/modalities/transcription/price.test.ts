import { expect } from 'chai';
import type { Model, Price } from '../../../src/core/model.js';
import type { TranscriptionCall } from '../../../src/modalities/transcription/codec.js';
import {
  transcriptionBill,
  transcriptionMaxCost,
} from '../../../src/modalities/transcription/price.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const provider = providerAt('https://upstream.example.com');
const NO_TOKENS = { input_nano_per_million: 0n, output_nano_per_million: 0n };
const CALL: TranscriptionCall = {
  task: 'transcribe',
  audio: Buffer.alloc(0),
  kind: { type: 'audio/wav', extension: 'wav' },
  seconds: 1,
  format: 'json',
  granularities: [],
  fields: {},
};

function modelAt(price: Price): Model {
  const limits = { max_tokens: undefined, context: undefined, image_tokens: undefined };
  const upstreams = [upstreamAt(provider, { price })];
  return { id: 'ears', limits, upstreams, price } as unknown as Model;
}

describe('the price of a transcript', () => {
  it('is that of its milliseconds, rounded up once, and within the hold for what is known', async () => {
    for (let at = 1; at <= 300; at += 1) {
      const price = { free: false, ...NO_TOKENS, per_audio_minute: BigInt(at * 7_919) };
      const ms = at * 613;
      const call = { ...CALL, seconds: ms / 1_000 };
      const model = modelAt(price);
      const hold_nano = transcriptionMaxCost(call, model, model.upstreams);
      const reply = { text: '', seconds: ms / 1_000, usage: undefined };
      const bill = await transcriptionBill(reply, { call, model, price, hold_nano });
      const exact = BigInt(ms) * BigInt(at * 7_919);
      expect(bill.cost_nano * 60_000n >= exact).to.equal(true);
      expect((bill.cost_nano - 1n) * 60_000n < exact).to.equal(true);
      expect(bill.cost_nano <= hold_nano).to.equal(true);
      expect(bill.estimated).to.equal(false);
    }
  });

  it('never passes the hold where it is an estimate', async () => {
    const price = { free: false, ...NO_TOKENS, per_audio_minute: 6_000_000n };
    const model = modelAt(price);
    const call = { ...CALL, audio: Buffer.alloc(1_000_000), seconds: undefined };
    const reply = { text: '', seconds: undefined, usage: undefined };
    const bill = await transcriptionBill(reply, { call, model, price, hold_nano: 5n });
    expect([bill.cost_nano, bill.estimated]).to.deep.equal([5n, true]);
  });

  it('is held also for audio of no length', () => {
    const model = modelAt({ free: false, ...NO_TOKENS, per_audio_minute: 60_000n });
    const call = { ...CALL, seconds: 1e-9 };
    expect(transcriptionMaxCost(call, model, model.upstreams)).to.equal(1_000n);
  });

  it('is what was used where it cost more than the hold', async () => {
    const price = { free: false, ...NO_TOKENS, per_audio_minute: 60_000n };
    const reply = { text: '', seconds: 3_600, usage: undefined };
    const terms = { call: CALL, model: modelAt(price), price, hold_nano: 1_000n };
    const { cost_nano, estimated } = await transcriptionBill(reply, terms);
    expect([cost_nano, estimated]).to.deep.equal([3_600_000n, false]);
  });
});
