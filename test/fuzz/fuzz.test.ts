import { expect } from 'chai';
import { isLong, SEED } from '../helpers/long.js';
import { fuzz } from './fuzz.js';

const REQUESTS = isLong ? 50_000 : 500;
const MAX_MS = 200;
const MB = 1024 ** 2;

describe('a gateway with low limits, under fuzz', () => {
  it('neither ends nor stalls, keeps to its memory, and adds up', async () => {
    const seed = SEED % 1_000_000;
    const report = await fuzz({ requests: REQUESTS, seed });
    const told = JSON.stringify({ seed, ...report });
    expect(report.statuses, told).not.to.have.property('500');
    expect(report.statuses['200'], told).to.be.greaterThan(REQUESTS / 20);
    expect(report.vitals.stall_ms, told).to.be.below(MAX_MS);
    expect(report.vitals.rss_bytes - report.warm_bytes, told).to.be.below(150 * MB);
    expect(report.verdict, told).to.deep.equal({ open_holds: 0, faults: [] });
  }).timeout(isLong ? 3_600_000 : 300_000);
});
