import { expect } from 'chai';
import fc from 'fast-check';
import { inFormat, vectorBytes } from '../../../src/modalities/embedding/vector.js';

describe('a vector', () => {
  it('is float32, little endian, as base64', () => {
    expect(inFormat([1, -2], 'base64')).to.equal('AACAPwAAAMA=');
    expect(inFormat('AACAPwAAAMA=', 'float')).to.deep.equal([1, -2]);
  });

  it('is left as it is where it has the right form', () => {
    expect(inFormat([0.1], 'float')).to.deep.equal([0.1]);
    expect(inFormat('AACAPw==', 'base64')).to.equal('AACAPw==');
  });

  it('weighs no less than its longest numbers take', () => {
    const vector = [-0.0000010251424100715667, -0.0000010251424100715667];
    expect(vectorBytes(vector, 'float')).to.be.at.least(JSON.stringify(vector).length - 2);
  });

  it('comes back the same, and weighs no more than is said', () => {
    const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 });
    fc.assert(
      fc.property(floats, (vector) => {
        const packed = inFormat(vector, 'base64');
        const back = inFormat(packed, 'float') as number[];
        expect(back.map((one) => one + 0)).to.deep.equal(vector.map((one) => one + 0));
        const text = JSON.stringify(back).slice(2);
        expect(vectorBytes(packed, 'float')).to.be.at.least(text.length);
      }),
    );
  });
});
