import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { EndedCall } from '../../../src/store/idempotency/idempotency-types.js';
import { lineOf, linesIn } from '../../../src/store/journal/journal-format.js';
import { Journal } from '../../../src/store/journal/journal.js';
import { startOf } from '../../../src/store/leases/liveness.js';
import { until } from '../../helpers/until.js';
import { chargeOf, refusal } from '../helpers/ground.js';

const MB = 1024 ** 2;

describe('the journal', () => {
  let folder: string;
  let open: Journal[] = [];

  const make = (limit_bytes = 64 * MB, where = folder): Journal => {
    const journal = new Journal(where, limit_bytes);
    open.push(journal);
    return journal;
  };
  const entryOf = (id: string) => ({ charge: chargeOf(id, 'acc_1', 12_345_678_901_234_567n) });
  const known = (): Promise<boolean> => Promise.resolve(true);
  const files = (): string[] => readdirSync(folder).map((name) => join(folder, name));
  const idsIn = (file: string): string[] =>
    linesIn(readFileSync(file)).entries.map(({ charge }) => charge.request_id);

  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'tollgate-journal-')), 'journal');
  });
  afterEach(async () => {
    for (const journal of open) await journal.close(true);
    open = [];
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });

  it('keeps a whole charge and its answer, to the nano-dollar', async () => {
    const journal = make();
    const answered = {
      account_id: 'acc_1',
      request_id: 'r1',
      key_sha256: 'k',
      request_sha256: 'a',
      due_ms: 5,
      answer: { status: 200, text: '{"cost_nano":"7"}\n' },
    };
    const { charge } = entryOf('r1');
    const caches = { cached_tokens: 7, saved_nano: -3n, lost_nano: 2n ** 60n, agent: 'codex' };
    const entry = { charge: { ...charge, ...caches, reasoning_tokens: 0 }, answered };
    await journal.append(entry);
    const [file = ''] = files();
    expect(linesIn(readFileSync(file))).to.deep.equal({ entries: [entry], damaged: 0 });
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(statSync(folder).mode & 0o777).to.equal(0o700);
  });

  it('reads the answer of an older version, which called the hash asked_sha256', () => {
    const { charge } = entryOf('r1');
    const call = { account_id: 'acc_1', request_id: 'r1', key_sha256: 'k', due_ms: 5 };
    const answer = { status: 200, text: '{}' };
    const old = { ...call, asked_sha256: 'a', answer } as unknown as EndedCall;
    const { entries } = linesIn(lineOf({ charge, answered: old }));
    expect(entries).to.deep.equal([{ charge, answered: { ...call, request_sha256: 'a', answer } }]);
  });

  it('is empty again once all of its charges are in the store', async () => {
    const journal = make();
    await Promise.all(['r1', 'r2', 'r3'].map((id) => journal.append(entryOf(id))));
    expect(idsIn(files()[0] ?? '')).to.have.members(['r1', 'r2', 'r3']);
    journal.clear(() => false);
    await journal.append(entryOf('r4'));
    expect(idsIn(files()[0] ?? '')).to.have.length(4);
    journal.clear(() => true);
    await until(() => idsIn(files()[0] ?? '').length === 0, 'it is empty');
    await journal.append(entryOf('r5'));
    expect(idsIn(files()[0] ?? '')).to.deep.equal(['r5']);
  });

  it('leaves out a line that was not written to its end, wherever it was torn', async () => {
    const [first, second] = [lineOf(entryOf('r1')), lineOf(entryOf('r2'))];
    for (let length = 0; length < second.length - 1; length += 7) {
      for (const zeros of [0, 100]) {
        const torn = Buffer.concat([first, second.subarray(0, length), Buffer.alloc(zeros)]);
        const { entries, damaged } = linesIn(torn);
        expect(entries.map(({ charge }) => charge.request_id)).to.deep.equal(['r1']);
        expect(damaged).to.equal(length === 0 ? 0 : 1);
      }
    }
    const changed = Buffer.from(first.toString().replace('12345', '12346'));
    expect(linesIn(changed)).to.deep.equal({ entries: [], damaged: 1 });
  });

  it('takes over the file of a process that has ended, once', async () => {
    const journal = make();
    await journal.append(entryOf('r1'));
    const { pid } = spawnSync(process.execPath, ['--version']);
    const [file = ''] = files();
    const dead = file
      .replace(/\d+-\d*-(?=[0-9a-f]{16})/u, `${pid}-1-`)
      .replace(/.{6}\.journal$/u, '000000.journal');
    await writeFile(dead, Buffer.concat([lineOf(entryOf('r2')), Buffer.from('0123 {"cha')]));
    const [one, other] = await Promise.all([make().adopt(known), make().adopt(known)]);
    const adopted = [...(one ?? []), ...(other ?? [])];
    expect(adopted).to.have.length(1);
    expect(adopted[0]?.damaged).to.equal(1);
    expect(adopted[0]?.entries).to.deep.equal([entryOf('r2')]);
    expect(idsIn(file), 'that of a process which runs').to.deep.equal(['r1']);
  });

  it('leaves alone the file of a process that runs, and the charges of another store', async () => {
    const running = spawn('sleep', ['60']);
    try {
      const { pid = 0 } = running;
      await mkdir(folder);
      const journal = make();
      await journal.open();
      const [file = ''] = files();
      const named = (owner: string, end: string): string =>
        file
          .replace(/\d+-\d*-(?=[0-9a-f]{16})/u, owner)
          .replace(/.{6}\.journal$/u, `${end}.journal`);
      await writeFile(named(`${pid}-${startOf(pid)}-`, '000000'), lineOf(entryOf('r1')));
      await writeFile(named(`${pid}-1-`, '111111'), lineOf(entryOf('r2')));
      const unknown = await make().adopt(() => Promise.resolve(false));
      expect(unknown).to.deep.equal([]);
      const [adopted, ...others] = await make().adopt(known);
      expect(adopted?.entries).to.deep.equal([entryOf('r2')]);
      expect(others).to.deep.equal([]);
    } finally {
      running.kill('SIGKILL');
    }
  });

  it('begins a new file where another process took the old one', async () => {
    const journal = make();
    await journal.append(entryOf('r1'));
    const [file = ''] = files();
    await rename(file, `${file}.taken`);
    await journal.append(entryOf('r2'));
    const [mine = ''] = files().filter((name) => !name.endsWith('.taken'));
    expect(idsIn(mine)).to.deep.equal(['r2']);
  });

  it('is bounded, and takes a small charge where a large one does not fit', async () => {
    const journal = make(2_000);
    const large = { charge: { ...entryOf('r1').charge, usage: 'x'.repeat(3_000) } };
    const [refused, taken] = await Promise.allSettled([
      journal.append(large),
      journal.append(entryOf('r2')),
    ]);
    expect([refused.status, taken.status]).to.deep.equal(['rejected', 'fulfilled']);
    expect(idsIn(files()[0] ?? '')).to.deep.equal(['r2']);
  });

  it('refuses charges where its folder cannot be written', async () => {
    writeFileSync(join(folder, '..', 'file'), '');
    const journal = make(MB, join(folder, '..', 'file'));
    expect(await refusal(journal.append(entryOf('r1')))).to.match(/EEXIST|ENOTDIR/u);
  });

  it('takes charges on a disk that is full', async function () {
    await mkdir(folder);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]);
    // Only root may mount.
    if (mounted.status !== 0) return this.skip();
    try {
      const journal = make();
      await journal.open();
      const filler = join(folder, 'filler');
      await appendFile(filler, Buffer.alloc(3 * MB)).catch(() => undefined);
      expect(await refusal(appendFile(filler, Buffer.alloc(MB)))).to.include('ENOSPC');
      for (let at = 0; at < 100; at += 1) await journal.append(entryOf(`r${at}`));
      const large = { charge: { ...entryOf('big').charge, usage: 'x'.repeat(2 * MB) } };
      expect(await refusal(journal.append(large))).to.include('ENOSPC');
      await journal.append(entryOf('last'));
      const [file = ''] = files().filter((name) => name.endsWith('.journal'));
      expect(idsIn(file)).to.have.length(101);
      await journal.close(true);
    } finally {
      spawnSync('umount', ['-l', folder]);
    }
  });
});
