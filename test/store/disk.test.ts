import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Disk } from '../../src/store/disk.js';

describe('the wait for the disk', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tollgate-disk-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const reached = (disk: Disk) =>
    new Promise<NodeJS.ErrnoException | null>((resolve) => disk.after(resolve));

  it('calls back everyone, also those who come during a flush', async () => {
    writeFileSync(join(folder, 'log'), 'written');
    const disk = new Disk(join(folder, 'log'));
    const first = reached(disk);
    const meanwhile = [reached(disk), reached(disk)];
    expect(await first).to.equal(null);
    expect(await Promise.all(meanwhile)).to.deep.equal([null, null]);
    expect(await reached(disk)).to.equal(null);
    await disk.close();
  });

  it('tells what went wrong, and tries anew for the next', async () => {
    const disk = new Disk(join(folder, 'log'));
    expect(await reached(disk)).to.have.property('code', 'ENOENT');
    writeFileSync(join(folder, 'log'), '');
    expect(await reached(disk)).to.equal(null);
    await disk.close();
  });

  it('closes when nobody waits any more', async () => {
    writeFileSync(join(folder, 'log'), '');
    const disk = new Disk(join(folder, 'log'));
    const waiting = reached(disk);
    await disk.close();
    expect(await waiting).to.equal(null);
    await disk.close();
  });
});
