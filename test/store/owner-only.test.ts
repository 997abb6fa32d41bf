import { expect } from 'chai';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/open.js';

const KEPT = { due_ms: 9e15, total_bytes: 100, account_id: 'a', free: false };

describe('the files of a store', () => {
  let folder: string;
  let umask: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-modes-'));
    umask = process.umask(0);
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true });
  });

  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const open = (path: string) => openStore(`sqlite:${path}`, { now: Date.now });

  it('are readable by their owner only, whatever the umask', async () => {
    const data = join(folder, 'deep', 'data');
    const store = await open(join(data, 'tollgate.db'));
    await store.createAccount('alice', 1n);
    await store.images.keep('one', Buffer.from('secret'), KEPT);
    const files = readdirSync(data).sort();
    expect(files).to.deep.equal([
      'tollgate.db',
      'tollgate.db-images',
      'tollgate.db-shm',
      'tollgate.db-wal',
    ]);
    const modes = files.map((file) => modeOf(join(data, file)));
    expect(modes).to.deep.equal(['600', '700', '600', '600']);
    expect(modeOf(join(data, 'tollgate.db-images', 'one'))).to.equal('600');
    expect([modeOf(data), modeOf(join(folder, 'deep'))]).to.deep.equal(['700', '700']);
    await store.close();
  });

  it('of an older version get these modes, and their folder stays as it is', async () => {
    const file = join(folder, 'tollgate.db');
    const first = await open(file);
    chmodSync(folder, 0o755);
    for (const path of [file, `${file}-wal`, `${file}-shm`]) chmodSync(path, 0o644);
    mkdirSync(`${file}-images`, { mode: 0o755 });
    const second = await open(file);
    await second.images.keep('one', Buffer.from('secret'), KEPT);
    const paths = [file, `${file}-wal`, `${file}-shm`, `${file}-images`, folder];
    expect(paths.map(modeOf)).to.deep.equal(['600', '600', '600', '700', '755']);
    await second.close();
    await first.close();
  });

  it('are none where a folder stands in their place, which stays as it is', async () => {
    const file = join(folder, 'tollgate.db');
    mkdirSync(file, { mode: 0o755 });
    writeFileSync(join(file, 'own'), '');
    const error: unknown = await open(file).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
    expect(modeOf(file)).to.equal('755');
  });
});
