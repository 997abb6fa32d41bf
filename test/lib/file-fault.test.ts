import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { fileFault } from '../../src/lib/file-fault.js';
import { openStore } from '../../src/store/open.js';
import { refusal } from '../store/helpers/ground.js';

describe('a raw error of the system', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-file-fault-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const code of ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EIO', 'ENOENT', 'EEXIST']) {
    it(`names the file and a remedy, and not ${code}`, () => {
      const raw = Object.assign(new Error(`${code}: it failed, open 'x'`), { code });
      expect(fileFault('/srv/none/a.db', raw))
        .to.match(/\/srv\/none.*[:] /u)
        .and.not.include(code);
    });
  }

  it('is left as it is where it is of something else', () => {
    expect(fileFault('/srv/a.db', new TypeError('x'))).to.equal(undefined);
  });

  it('of a store says that a folder is a file, in place of "EEXIST: mkdir"', async () => {
    writeFileSync(join(folder, 'data'), '');
    const said = await refusal(openStore(`sqlite:${folder}/data/a.db`, { now: Date.now }));
    expect(said).to.equal(
      `StoreError: The store cannot be opened: a folder above ${folder}/data/a.db is a file: ` +
        'rename that file, or name a place elsewhere',
    );
  });

  it('of a store names the file that cannot be opened, without SQL', async () => {
    mkdirSync(join(folder, 'a.db'));
    const said = await refusal(openStore(`sqlite:${folder}/a.db`, { now: Date.now }));
    expect(said).to.match(
      /: The store cannot be opened: \S+a\.db cannot be opened: let this user /u,
    );
  });
});
