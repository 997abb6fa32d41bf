import { expect } from 'chai';
import { providerAt } from '../../helpers/upstream.js';
import { bodyOf, claudeAt, ignoredOf } from '../../helpers/claude.js';

const SAMPLING = { temperature: 0.5, top_p: 0.9, top_k: 5 };
const NAMES = ['temperature', 'top_p', 'top_k'];

describe('sampling parameters for Claude', () => {
  it("go out in the API's own range", () => {
    expect(bodyOf({ fields: { temperature: 1.7 } })).to.have.property('temperature', 1);
    expect(bodyOf({ fields: { temperature: 0 } })).to.have.property('temperature', 0);
    // It was lowered without a word.
    expect(ignoredOf({ fields: { temperature: 1.7 } })).to.deep.equal(['temperature']);
    expect(ignoredOf({ fields: { temperature: 1 } })).to.deep.equal([]);
  });

  it('go out without top_p beside temperature, which models from 4.1 on refuse', () => {
    expect(bodyOf({ fields: SAMPLING })).to.include({ temperature: 0.5, top_k: 5 });
    expect(bodyOf({ fields: SAMPLING })).to.not.have.property('top_p');
    expect(ignoredOf({ fields: SAMPLING })).to.deep.equal(['top_p']);
    expect(bodyOf({ fields: { top_p: 0.9 } })).to.have.property('top_p', 0.9);
    expect(bodyOf({ fields: SAMPLING }, claudeAt('claude-3-haiku-20240307'))).to.include(SAMPLING);
  });

  it('quirk 8: are left out for newer models, which answer 400 to them', () => {
    for (const model of ['claude-opus-4-7', 'claude-sonnet-5', 'claude-tomorrow']) {
      expect(bodyOf({ fields: SAMPLING }, claudeAt(model))).to.not.have.any.keys(...NAMES);
      expect(ignoredOf({ fields: SAMPLING }, claudeAt(model))).to.deep.equal(NAMES);
    }
  });

  it('are not named where they have their defaults', () => {
    const fields = { temperature: 1, top_p: 1 };
    expect(ignoredOf({ fields }, claudeAt('claude-opus-5'))).to.deep.equal([]);
  });

  it('are left out where the entry asks for the API version that refuses them', () => {
    const headers = { 'anthropic-version': '2026-10-21' };
    const to = claudeAt(undefined, { provider: providerAt('http://fake.invalid', { headers }) });
    expect(bodyOf({ fields: SAMPLING }, to)).to.not.have.any.keys(...NAMES);
    expect(ignoredOf({ fields: SAMPLING }, to)).to.deep.equal(NAMES);
  });

  it('go by the wire flag where the name of a model does not tell', () => {
    const none = claudeAt(undefined, {}, { sampling: false });
    expect(bodyOf({ fields: SAMPLING }, none)).to.not.have.any.keys(...NAMES);
    const some = claudeAt('claude-tomorrow', {}, { sampling: true });
    expect(bodyOf({ fields: { temperature: 0.5 } }, some)).to.have.property('temperature', 0.5);
  });

  it('have a list for one stop sequence, without those of white space, which are refused', () => {
    expect(bodyOf({ fields: { stop: 'x' } }).stop_sequences).to.deep.equal(['x']);
    expect(bodyOf({ fields: { stop: ['a', '\n', ' b'] } }).stop_sequences).to.deep.equal([
      'a',
      ' b',
    ]);
    expect(ignoredOf({ fields: { stop: ['a', '\n'] } })).to.deep.equal(['stop']);
    expect(bodyOf({ fields: { stop: ['\n'] } })).to.not.have.property('stop_sequences');
  });
});
