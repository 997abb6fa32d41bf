import { expect } from 'chai';
import { Buffer } from 'node:buffer';
import { requestBody } from './request-bodies.js';
import { FORMATS, orderOf, type Work } from './wording.js';

describe('the calls of the bench', () => {
  const work = (more: Partial<Work>): Work => ({
    kind: 'json',
    connections: 1,
    format: 'chat',
    upstream_format: 'chat',
    turn_bytes: undefined,
    rate: undefined,
    ...more,
  });

  for (const format of FORMATS) {
    for (const turn_bytes of [32 * 1_024, 200 * 1_024]) {
      it(`are turns of ${turn_bytes} bytes in ${format}, give or take a fiftieth`, () => {
        const bytes = Buffer.from(requestBody(work({ format, turn_bytes })));
        expect(bytes.length).to.be.closeTo(turn_bytes, turn_bytes / 50);
        expect(bytes.toString('latin1')).not.to.equal(bytes.toString());
        expect(orderOf(bytes)).to.deep.equal({ events: 0, gap_ms: 0 });
      });
    }
  }

  it('tell the upstream how many events to stream, and how far apart', () => {
    const body = Buffer.from(requestBody(work({ kind: 'stream', connections: 60 })));
    expect(orderOf(body)).to.deep.equal({ events: 50, gap_ms: 20 });
  });
});
