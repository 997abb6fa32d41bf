import { expect } from 'chai';
import { UpstreamError, type Fault, type Reached } from '../../src/core/upstream-error.js';
import {
  isOwnFailure,
  isRepeatable,
  isRetryable,
  retryAfterMs,
} from '../../src/upstream/to-client-error.js';

interface Failure {
  fault: Fault;
  status?: number;
  reached?: Reached;
}

function errorOf({ fault, status, reached }: Failure): UpstreamError {
  return new UpstreamError(fault, 'It failed.', undefined, {
    ...(status !== undefined && { status }),
    ...(reached && { reached }),
  });
}

const REFUSED: readonly Failure[] = [
  { fault: 'unreachable', reached: 'nothing' },
  { fault: 'timeout', reached: 'nothing' },
  { fault: 'rate_limited', status: 429 },
];
const FAILED: readonly Failure[] = [
  { fault: 'overloaded', status: 503 },
  { fault: 'overloaded', status: 529 },
  { fault: 'overloaded' },
  { fault: 'broken', status: 500 },
  { fault: 'broken', status: 502 },
];
/** The upstream may have answered and bills it, or a repeat would fail too. */
const OTHERS: readonly Failure[] = [
  { fault: 'timeout', reached: 'upstream' },
  { fault: 'timeout', reached: 'answer' },
  { fault: 'timeout' },
  { fault: 'broken', reached: 'upstream' },
  { fault: 'broken', reached: 'answer' },
  { fault: 'broken', status: 504 },
  { fault: 'broken', status: 524 },
  { fault: 'broken', status: 400 },
  { fault: 'broken' },
  { fault: 'credentials', status: 401 },
  { fault: 'quota', status: 429 },
  { fault: 'missing', status: 404 },
  { fault: 'busy' },
  { fault: 'rejected', status: 400 },
  { fault: 'context', status: 400 },
  { fault: 'policy', status: 400 },
  { fault: 'unsupported' },
];

describe('a call that failed', () => {
  it('is sent again where the upstream cannot have billed it, and may answer then', () => {
    for (const failure of [...REFUSED, ...FAILED]) {
      expect(isRepeatable(errorOf(failure), false), JSON.stringify(failure)).to.equal(true);
    }
    for (const failure of OTHERS) {
      expect(isRepeatable(errorOf(failure), false), JSON.stringify(failure)).to.equal(false);
    }
  });

  it('is sent again only if it was refused or not sent, where errors are billed', () => {
    for (const failure of [...REFUSED, ...FAILED]) {
      const isSent = isRepeatable(errorOf(failure), true);
      expect(isSent, JSON.stringify(failure)).to.equal(REFUSED.includes(failure));
    }
  });

  it('is not sent again beside or after a call that was taken up', () => {
    for (const failure of [...REFUSED, ...FAILED]) {
      const error = errorOf(failure);
      error.is_taken_up = true;
      expect(isRepeatable(error, false), JSON.stringify(failure)).to.equal(false);
    }
  });

  it('blames the upstream only for what is not the fault of the request or of the gateway', () => {
    const isBlamed = (failure: Failure): boolean => isOwnFailure(errorOf(failure));
    const blameless: readonly Failure[] = [
      { fault: 'rejected', status: 400 },
      { fault: 'context', status: 413 },
      { fault: 'policy', status: 400 },
      { fault: 'unsupported' },
      { fault: 'missing', status: 404 },
      { fault: 'busy' },
      { fault: 'broken', status: 400 },
      { fault: 'broken' },
    ];
    for (const failure of blameless) expect(isBlamed(failure)).to.equal(false);
    const blamed: readonly Failure[] = [
      ...REFUSED,
      ...FAILED,
      { fault: 'timeout', reached: 'upstream' },
      { fault: 'broken', reached: 'answer' },
      { fault: 'broken', status: 504 },
      { fault: 'credentials', status: 401 },
      { fault: 'quota', status: 402 },
    ];
    for (const failure of blamed) expect(isBlamed(failure)).to.equal(true);
  });

  it('is neither sent again nor the fault of the upstream where the request is too large', () => {
    const options = { status: 429, is_too_large: true };
    const error = new UpstreamError('rate_limited', 'It failed.', undefined, options);
    expect(isRepeatable(error, false)).to.equal(false);
    expect(isOwnFailure(error)).to.equal(false);
    expect(isRetryable(error), 'another upstream may take more').to.equal(true);
  });

  it('says when to come back in seconds, or by a date', () => {
    const now_ms = Date.UTC(2026, 10, 28);
    const wait = (text?: string): number | undefined =>
      retryAfterMs(new UpstreamError('rate_limited', 'Wait.', text), now_ms);
    expect(wait('7')).to.equal(7_000);
    expect(wait('Sat, 28 Nov 2026 00:01:00 GMT')).to.equal(60_000);
    expect(wait('Fri, 27 Nov 2026 00:01:00 GMT')).to.equal(0);
    expect(wait('Soon, or later GMT')).to.equal(undefined);
    expect(wait()).to.equal(undefined);
  });
});
