import { expect } from 'chai';
import {
  mergedReports,
  ProviderHealth,
  WINDOW_MINUTES,
} from '../../src/telemetry/provider-health.js';
import { GatewayError } from '../../src/core/errors.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

const MINUTE_MS = 60_000;

describe('the health of providers', () => {
  let now_ms = 0;
  let outcomes: ProviderHealth;
  const one = () => outcomes.report().acme;

  beforeEach(() => {
    now_ms = 1_800_000_000_000;
    outcomes = new ProviderHealth(() => now_ms);
  });

  it('knows nothing of a provider that was never called', () => {
    expect(outcomes.report()).to.deep.equal({});
  });

  it('counts answers, refusals and failures apart', () => {
    outcomes.answered('acme');
    outcomes.failed('acme', new UpstreamError('rejected', 'temperature is too high'));
    outcomes.failed('acme', new UpstreamError('context', 'too long'));
    outcomes.failed('acme', new UpstreamError('policy', 'no'));
    const too_large = { status: 429, is_too_large: true };
    outcomes.failed('acme', new UpstreamError('rate_limited', 'too large', undefined, too_large));
    now_ms += 1;
    outcomes.failed('acme', new UpstreamError('timeout', 'The upstream timed out.'));
    expect(one()).to.deep.equal({
      answered: 1,
      refused: 4,
      failed: 1,
      last_success_ms: now_ms - 1,
      last_failure: { at_ms: now_ms, fault: 'timeout', message: 'The upstream timed out.' },
    });
  });

  it('counted a call as failed that the gateway had cut as it stopped', () => {
    outcomes.answered('acme');
    outcomes.failed('acme', new GatewayError('draining', 'The gateway stopped.'));
    expect(one()).to.deep.include({ answered: 1, refused: 0, failed: 0, last_failure: null });
  });

  it('tells once what no price covers, until the configuration is loaded again', () => {
    const search = { model: 'm', unit: 'per_tool_call.web_search' };
    const other = { ...search, model: 'n' };
    expect(outcomes.unpriced('acme', search)).to.equal(true);
    expect(outcomes.unpriced('acme', search)).to.equal(false);
    expect(outcomes.unpriced('acme', other)).to.equal(true);
    expect(one()?.unpriced).to.deep.equal([search, other]);
    const notes = [JSON.stringify(outcomes.report()), JSON.stringify(outcomes.report())];
    expect(mergedReports(notes).acme?.unpriced).to.deep.equal([search, other]);
    outcomes.keep({ has: () => true });
    expect(one()).not.to.have.property('unpriced');
    expect(outcomes.unpriced('acme', search)).to.equal(true);
  });

  it('keeps a bounded number of units without a price, whatever names an upstream makes up', () => {
    for (let at = 0; at < 1_000; at += 1) {
      outcomes.unpriced('acme', { model: 'm', unit: `per_tool_call.t${at}` });
    }
    expect(one()?.unpriced).to.have.length(50);
  });

  it('shows no message of an unknown error', () => {
    outcomes.failed('acme', new Error('secret at /srv/key.json'));
    const { last_failure } = one() ?? {};
    expect(last_failure).to.include({ fault: 'broken', message: 'The upstream failed.' });
  });

  it('keeps no more than the beginning of a long message', () => {
    outcomes.failed('acme', new UpstreamError('broken', 'x'.repeat(10_000)));
    expect(one()?.last_failure?.message).to.have.length(300);
  });

  it('forgets counts that are older than the window, but not when the last ones were', () => {
    for (let minute = 0; minute < WINDOW_MINUTES; minute += 1) {
      outcomes.answered('acme');
      now_ms += MINUTE_MS;
    }
    expect(one()?.answered).to.equal(WINDOW_MINUTES - 1);
    now_ms += 100 * MINUTE_MS;
    expect(one()).to.include({ answered: 0, last_success_ms: now_ms - 101 * MINUTE_MS });
    outcomes.answered('acme');
    expect(one()?.answered).to.equal(1);
  });

  it('forgets a provider that is configured no longer', () => {
    outcomes.answered('acme');
    outcomes.answered('other');
    outcomes.keep(new Set(['other']));
    expect(Object.keys(outcomes.report())).to.deep.equal(['other']);
  });

  it('sums the reports of several processes, the latest failure and success first', () => {
    outcomes.answered('acme');
    outcomes.failed('acme', new UpstreamError('broken', 'early'));
    const early = outcomes.report();
    now_ms += 1;
    const others = new ProviderHealth(() => now_ms);
    others.answered('acme');
    others.failed('acme', new UpstreamError('broken', 'late'));
    others.answered('other');
    for (const reports of [
      [early, others.report()],
      [others.report(), early],
    ]) {
      const { acme, other } = mergedReports(reports.map((report) => JSON.stringify(report)));
      expect(acme).to.include({ answered: 2, failed: 2, last_success_ms: now_ms });
      expect(acme?.last_failure?.message).to.equal('late');
      expect(other).to.include({ answered: 1, last_failure: null });
    }
    expect(mergedReports(['', JSON.stringify({})])).to.deep.equal({});
  });

  it('leaves out the report of a later version in another form, and fails nothing', () => {
    outcomes.answered('acme');
    const known = JSON.stringify(outcomes.report());
    const others = ['[', '[]', '{"acme":{"calls":{"answered":3}}}', '{"acme":null}'];
    expect(mergedReports([...others, known]).acme).to.include({ answered: 1, failed: 0 });
  });

  it('ignores minutes in the future after the clock was set back by an hour', () => {
    outcomes.answered('acme');
    now_ms -= 61 * 60_000;
    outcomes.answered('acme');
    expect(outcomes.report().acme?.answered).to.equal(1);
  });
});
