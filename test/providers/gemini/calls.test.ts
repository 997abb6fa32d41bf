import { expect } from 'chai';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { answer, framed, heard } from '../../helpers/gemini.js';

const event = (functionCall: object): object => ({
  candidates: [{ content: { role: 'model', parts: [{ functionCall }] }, index: 0 }],
});
const piece = (jsonPath: string, value: object, isLast = false): object =>
  event({ partialArgs: [{ jsonPath, ...value }], ...(!isLast && { willContinue: true }) });
const BEGIN = event({ name: 'plan', willContinue: true });

const told = (events: readonly object[]) => {
  const { calls, error } = heard([Buffer.from(framed([...events, answer([])]))]);
  if (error) throw error;
  return calls.map(({ name, arguments: args }) => [name, JSON.parse(args)]);
};

describe('arguments that Gemini streams in pieces', () => {
  const pieces = [
    piece('$.city', { stringValue: 'Os', willContinue: true }),
    piece('$.city', { stringValue: 'lo' }),
    piece('$.days[0].high', { numberValue: 21 }),
    piece('$.days[0].wet', { boolValue: false }),
    piece("$.days[1]['low']", { nullValue: 'NULL_VALUE' }),
  ];
  const plan = ['plan', { city: 'Oslo', days: [{ high: 21, wet: false }, { low: null }] }];

  it('are told as one call when a bare call ends them', () => {
    expect(told([BEGIN, ...pieces, event({})])).to.deep.equal([plan]);
  });

  it('are told as one call when the stream ends', () => {
    expect(told([BEGIN, ...pieces])).to.deep.equal([plan]);
  });

  it('are told before the call that follows them', () => {
    const next = event({ name: 'clock', args: {} });
    expect(told([BEGIN, ...pieces, next])).to.deep.equal([plan, ['clock', {}]]);
  });

  it('end with the piece that nothing follows', () => {
    const last = piece('$.city', { stringValue: 'Rome' }, true);
    const bare = event({});
    expect(told([BEGIN, last, bare])).to.deep.equal([['plan', { city: 'Rome' }]]);
  });

  it('are not told where the stream is cut before its end', () => {
    const { calls, error } = heard([Buffer.from(framed([BEGIN, ...pieces]))]);
    expect(calls).to.deep.equal([]);
    expect(error).to.be.instanceOf(UpstreamError);
  });

  for (const path of ['$', '$.days[9]', undefined]) {
    it(`are a failure where they name the place ${path}`, () => {
      const lost = event({ partialArgs: [{ jsonPath: path, stringValue: 'x' }] });
      expect(() => told([BEGIN, lost])).to.throw(UpstreamError);
    });
  }

  it('cannot reach what every object has', () => {
    const lost = piece('$.__proto__.polluted', { boolValue: true });
    expect(() => told([BEGIN, lost, event({})])).to.not.throw();
    expect({}).to.not.have.property('polluted');
  });
});
