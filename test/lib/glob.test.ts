import { expect } from 'chai';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFiles, isPattern } from '../../src/lib/glob.js';

describe('a pattern of files', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-glob-'));
    for (const name of ['chat', 'image', '.git']) await mkdir(join(folder, name));
    await mkdir(join(folder, 'chat', 'folder.yaml'));
    for (const name of ['chat/b.yaml', 'chat/a.yaml', 'chat/a.yaml.bak', 'chat/.c.yaml']) {
      await writeFile(join(folder, name), '');
    }
    for (const name of ['image/d.yaml', '.git/e.yaml', 'top.yaml']) {
      await writeFile(join(folder, name), '');
    }
    await symlink(join(folder, 'top.yaml'), join(folder, 'image', 'link.yaml'));
    await symlink('nowhere', join(folder, 'image', 'broken.yaml'));
  });
  after(() => rm(folder, { recursive: true }));

  const found: readonly [pattern: string, ...files: string[]][] = [
    ['*.yaml', 'top.yaml'],
    ['chat/*.yaml', 'chat/a.yaml', 'chat/b.yaml'],
    ['chat/.*', 'chat/.c.yaml'],
    ['chat/a.yaml', 'chat/a.yaml'],
    ['chat/*a*', 'chat/a.yaml', 'chat/a.yaml.bak', 'chat/b.yaml'],
    ['chat/*a.y*aml', 'chat/a.yaml'],
    ['chat/a.yaml*yaml'],
    ['*/*.yaml', 'chat/a.yaml', 'chat/b.yaml', 'image/d.yaml', 'image/link.yaml'],
    ['chat'],
    ['none/*.yaml'],
    ['top.yaml/x'],
  ];
  for (const [pattern, ...files] of found) {
    it(`finds ${files.length} files for ${pattern}`, async () => {
      expect((await findFiles(folder, pattern)).files).to.deep.equal(files);
    });
  }

  it('tells the folders in which a new file would match', async () => {
    const { folders } = await findFiles(folder, '*/*.yaml');
    expect(folders).to.include.members(['', 'chat', 'image']).and.not.include('.git');
    expect((await findFiles(folder, 'chat/a.yaml')).folders).to.deep.equal(['chat']);
  });

  it('answers at once for many stars and a long name', async () => {
    await writeFile(join(folder, 'image', `${'a'.repeat(250)}b`), '');
    const begun_ms = performance.now();
    const { files } = await findFiles(folder, `image/${'*a'.repeat(100)}*c`);
    expect(files).to.deep.equal([]);
    expect(performance.now() - begun_ms).to.be.below(5_000);
  });

  it('stays below its folder, and has one form', () => {
    for (const pattern of ['models/*.yaml', '*/a.yaml', 'a b/ä-*.yaml', '*/*']) {
      expect(isPattern(pattern), pattern).to.equal(true);
    }
    const wrong = ['', '/a', '../a', 'a/../b', './a', 'a//b', 'a/', '**/a', 'a?', '[a]', '{a,b}'];
    for (const pattern of [...wrong, '!a', 'a\\b', 'a\u0000', '${A}', '*/*/a', 'a'.repeat(2_000)]) {
      expect(isPattern(pattern), pattern).to.equal(false);
    }
  });
});
