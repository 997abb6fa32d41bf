import { expect } from 'chai';
import type { ReasoningDetail } from '../../../../src/modalities/chat/codec.js';
import {
  sealedSignature,
  stateIn,
} from '../../../../src/modalities/chat/formats/generate-content-state.js';

describe('the state of another upstream in a signature of the Gemini API', () => {
  const roundTrip = (details: readonly ReasoningDetail[]): ReasoningDetail[] =>
    stateIn(sealedSignature(details));

  it('keeps a summary whole that arrives in pieces', () => {
    const piece = (summary: string): ReasoningDetail => ({
      type: 'reasoning.summary',
      index: 0,
      summary,
    });
    expect(roundTrip([piece('First '), piece('this, '), piece('then that.')])).to.deep.equal([
      piece('First this, then that.'),
    ]);
  });

  it('keeps a text whole that arrives in pieces, and its signature', () => {
    const piece = { type: 'reasoning.text', index: 0 } as const;
    const pieces = [
      { ...piece, text: 'so ' },
      { ...piece, text: 'on' },
      { ...piece, signature: 's' },
    ];
    expect(roundTrip(pieces)).to.deep.equal([{ ...piece, text: 'so on', signature: 's' }]);
  });

  it('keeps apart details of other indexes and other types', () => {
    const details: ReasoningDetail[] = [
      { type: 'reasoning.text', index: 0, text: 'one' },
      { type: 'reasoning.summary', index: 0, summary: 'two' },
      { type: 'reasoning.text', index: 1, text: 'three' },
      { type: 'reasoning.text', text: 'four' },
      { type: 'reasoning.text', text: 'five' },
    ];
    expect(roundTrip(details)).to.deep.equal(details);
  });

  it('is none in a signature that the gateway did not make', () => {
    expect(stateIn('c2lnbmF0dXJl')).to.deep.equal([]);
  });
});
