import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../../src/store/open.js';
import { until } from '../../helpers/until.js';

const PROGRAM = fileURLToPath(new URL('../helpers/many-charges.ts', import.meta.url));
/** Made after all others, so that a watcher which has seen it has seen them all. */
const LAST = 'last';

describe('concurrent calls on SQLite', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-temporary-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('make no temporary files, which would cost more than the writes', async () => {
    const place = join(folder, 'temporary');
    mkdirSync(place);
    const made: (string | null)[] = [];
    const watcher = watch(place, (_, name) => void made.push(name));
    const url = `sqlite:${join(folder, 'tollgate.db')}`;
    // A process learns only at its start where SQLite puts such files.
    const env = { ...process.env, SQLITE_TMPDIR: place };
    const child = fork(PROGRAM, [url], { execArgv: ['--import', 'tsx'], env });
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    writeFileSync(join(place, LAST), '');
    await until(() => made.includes(LAST), 'all files are told of');
    watcher.close();
    expect(made.filter((name) => name !== LAST)).to.deep.equal([]);
    const store = await openStore(url, { now: () => 1_800_000_000_000 });
    expect(await store.verify()).to.deep.include({ entries: 2_001, open_holds: 0, faults: [] });
    await store.close();
  });
});
