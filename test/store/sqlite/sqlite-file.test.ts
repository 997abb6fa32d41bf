import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WalSync } from '../../../src/store/sqlite/sqlite-file.js';

describe("the sync of SQLite's write-ahead log", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const reached = (disk: WalSync) =>
    new Promise<NodeJS.ErrnoException | null>((resolve) => disk.after(resolve));

  it('calls back every caller, also callers that arrive during an fsync', async () => {
    writeFileSync(join(folder, 'log'), 'written');
    const disk = new WalSync(join(folder, 'log'));
    const first = reached(disk);
    const meanwhile = [reached(disk), reached(disk)];
    expect(await first).to.equal(null);
    expect(await Promise.all(meanwhile)).to.deep.equal([null, null]);
    expect(await reached(disk)).to.equal(null);
    await disk.close();
  });

  it('passes on an error, and syncs again for the next caller', async () => {
    const disk = new WalSync(join(folder, 'log'));
    expect(await reached(disk)).to.have.property('code', 'ENOENT');
    writeFileSync(join(folder, 'log'), '');
    expect(await reached(disk)).to.equal(null);
    await disk.close();
  });

  it('closes after the last callback', async () => {
    writeFileSync(join(folder, 'log'), '');
    const disk = new WalSync(join(folder, 'log'));
    const waiting = reached(disk);
    await disk.close();
    expect(await waiting).to.equal(null);
    await disk.close();
  });

  it('is quick unless the event loop idles during the fsync', async () => {
    writeFileSync(join(folder, 'log'), '');
    let [idle_ms, each_ms] = [0, 0];
    const disk = new WalSync(join(folder, 'log'), () => (idle_ms += each_ms));
    const after = async (flushes: number) => {
      for (let flush = 0; flush < flushes; flush++) await reached(disk);
      return disk.isQuick;
    };
    expect(await after(3)).to.equal(true);
    each_ms = 1;
    expect(await after(12)).to.equal(false);
    each_ms = 0.2;
    expect(await after(12)).to.equal(true);
    await disk.close();
  });
});
