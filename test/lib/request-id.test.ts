import { expect } from 'chai';
import { requestId } from '../../src/lib/request-id.js';

describe('requestId', () => {
  it('is a UUID of version 7', () => {
    expect(requestId(1_795_224_526_000)).to.match(
      /^01a1fbb8-5cb0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u,
    );
  });

  it('sorts by time and never repeats', () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => requestId(1_700_000_000_000 + at * 7));
    expect([...ids].sort()).to.deep.equal(ids);
    expect(new Set(Array.from({ length: 1_000 }, () => requestId(0))).size).to.equal(1_000);
  });
});
