import { expect } from 'chai';
import { join } from 'node:path';
import { openStore } from '../../src/store/open.js';
import type { Store } from '../../src/store/store-types.js';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';
import { recordAt } from '../store/requests/helpers.js';

const OLD = 8_000;
const DAY_MS = 86_400_000;

describe('a gateway with many old requests', () => {
  let place: Place;
  const open = (): Promise<Store> =>
    openStore(`sqlite:${join(place.folder, 'data/tollgate.db')}`, { now: Date.now });

  before(async () => {
    place = await makePlace(`${SIMULATED}requests: { keep: 1d }\n`);
    const store = await open();
    const old_ms = Date.now() - 2 * DAY_MS;
    await store.requests.add(Array.from({ length: OLD }, (_, at) => recordAt(old_ms + at)));
    while (await store.requests.rollUp());
    await store.close();
  });
  after(() => place.close());

  it('did not serve before they were swept, or ended with an error of the sweep', async () => {
    const serving = place.begin('serve');
    await serving.url();
    const { status, stderr } = await serving.stop();
    expect(stderr).to.not.include('"level":50');
    expect(status).to.equal(0);
    const store = await open();
    const left = await store.requests.page({ limit: 1 });
    await store.close();
    expect(left).to.have.length(1);
  });
});
