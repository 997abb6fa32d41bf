import { expect } from 'chai';
import { BitWriter, nal } from '../../../providers/simulator/bits.js';

function written(write: (writer: BitWriter) => void): string {
  const writer = new BitWriter();
  write(writer);
  return writer
    .end()
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join(' ');
}

describe('writing bits', () => {
  it('puts fields behind each other, and one 1 behind them all', () => {
    expect(written((writer) => writer.bits(0b101, 3).bits(0x1ff, 9))).to.equal('10111111 11111000');
    expect(written((writer) => writer.bits(0xab, 8))).to.equal('10101011 10000000');
  });

  // Table 9-2 of the standard.
  for (const [value, code] of [
    [0, '1'],
    [1, '010'],
    [2, '011'],
    [3, '00100'],
    [6, '00111'],
    [7, '0001000'],
    [30, '000011111'],
  ] as const) {
    it(`writes ${value} as ${code}`, () => {
      expect(written((writer) => writer.ue(value)).replaceAll(' ', '')).to.match(
        new RegExp(`^${code}10*$`, 'u'),
      );
    });
  }

  it('writes numbers of more bits than a byte', () => {
    const code = written((writer) => writer.ue(32_400)).replaceAll(' ', '');
    expect(code).to.equal(`${'0'.repeat(14)}${(32_401).toString(2)}100`);
  });

  it('begins whole bytes at a byte', () => {
    expect(written((writer) => writer.bits(1, 1).align(Buffer.from([255])))).to.equal(
      '10000000 11111111 10000000',
    );
  });

  for (const [payload, unit] of [
    [[1, 0, 0, 4], '670100' + '0004'],
    [[0, 0, 1], '67000003' + '01'],
    [[0, 0, 3], '67000003' + '03'],
    [[0, 0, 0, 0, 0], '67000003' + '000003' + '00'],
  ] as const) {
    it(`protects ${payload.join(' ')} from being taken for a start`, () => {
      expect(nal(0x67, payload).toString('hex')).to.equal(unit);
    });
  }
});
