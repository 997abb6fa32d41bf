import { expect } from 'chai';
import { existsSync, mkdtempSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../src/store/open.js';
import type { Store } from '../../../src/store/store-types.js';
import { chargeOf, dollars } from '../helpers/ground.js';

/** So that the rows that one statement touches lie on many pages. */
const OPEN_HOLDS = 2_000;
const AT_ONCE = 64;

/** Where SQLite makes its temporary files: the first of these that is there. */
const { SQLITE_TMPDIR, TMPDIR } = process.env;
const PLACES = [SQLITE_TMPDIR, TMPDIR, '/var/tmp', '/usr/tmp', '/tmp'];
const PREFIX = 'etilqs_';

describe('concurrent calls on SQLite', () => {
  let folder: string;
  let store: Store;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-temporary-'));
    store = await openStore(`sqlite:${join(folder, 'tollgate.db')}`, {
      now: () => 1_800_000_000_000,
    });
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('make no temporary files, which would cost more than the writes', async () => {
    const made: string[] = [];
    const place = PLACES.find((one) => one && existsSync(one)) ?? tmpdir();
    const watcher = watch(place, (_, name) => name?.startsWith(PREFIX) && made.push(name));
    const { id } = await store.createAccount('ann', dollars(1_000));
    const names = Array.from({ length: OPEN_HOLDS }, (_, at) => `r${(at * 7919) % OPEN_HOLDS}`);
    await Promise.all(names.map((name) => store.hold(name, id, 10n)));
    for (let from = 0; from < names.length; from += AT_ONCE) {
      const some = names.slice(from, from + AT_ONCE);
      const charges = some.map((name) => chargeOf(name, id, 3n, { hold_nano: 10n }));
      await Promise.all(charges.map((charge) => store.settle(charge)));
    }
    await new Promise((resolve) => setImmediate(resolve));
    watcher.close();
    expect(made).to.deep.equal([]);
    expect(await store.verify()).to.deep.include({ open_holds: 0, faults: [] });
  });
});
