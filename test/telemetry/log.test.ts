import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { build } from 'esbuild';
import { closeSync, existsSync, openSync } from 'node:fs';
import { BUNDLE } from '../../.ci/bundle.js';

/** Compiled: a process that also compiles takes so long to end that nothing is lost. */
const { outputFiles } = await build({
  ...BUNDLE,
  entryPoints: ['src/telemetry/log.ts'],
  write: false,
});
const COMPILED = outputFiles.map(({ text }) => text).join('');

function argumentsOf(code: string): string[] {
  const text = `${COMPILED}\nconst { log } = createLog('info'); ${code}`;
  return ['--input-type=module', '-e', text];
}

/** A program that logs; what it has written so far, and the means to end its input, and so it. */
function program(code: string) {
  const child = spawn(process.execPath, argumentsOf(code), { cwd: BUNDLE.absWorkingDir });
  let written = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (written += piece));
  return {
    child,
    lines: () => written.split('\n').filter(Boolean),
    ended: once(child, 'close'),
  };
}

describe('the log on standard error', () => {
  it('has every line, in order, of a process that ends at once', async () => {
    const { lines, ended } = program(
      'for (let at = 0; at < 2000; at++) log.info({ at }); process.exit(0);',
    );
    await ended;
    const numbers = lines().map((line) => (JSON.parse(line) as { at: number }).at);
    expect(numbers).to.deep.equal(Array.from({ length: 2_000 }, (_, at) => at));
  });

  it('has every line, in order, of a process that ends at once on a busy machine', async () => {
    const { lines, ended } = program(
      `const { pbkdf2 } = await import('node:crypto');
      // No thread is free for a write before the end.
      for (let at = 0; at < 4; at++) pbkdf2('a', 'b', 300_000, 32, 'sha512', () => undefined);
      for (let at = 0; at < 2000; at++) log.info({ at });
      process.exit(0);`,
    );
    await ended;
    const numbers = lines().map((line) => (JSON.parse(line) as { at: number }).at);
    expect(numbers).to.deep.equal(Array.from({ length: 2000 }, (_, at) => at));
  });

  it('has every line, in order, of a process that logs for long', async () => {
    const { lines, ended } = program(
      `let at = 0;
      const timer = setInterval(() => {
        for (const end = at + 700; at < end; at++) log.info({ at, text: 'ä'.repeat(100) });
        if (at >= 70_000) clearInterval(timer);
      }, 2);`,
    );
    await ended;
    const numbers = lines().map((line) => (JSON.parse(line) as { at: number }).at);
    expect(numbers).to.deep.equal(Array.from({ length: 70_000 }, (_, at) => at));
  });

  it('has every line of processes that end by themselves', async () => {
    const code = 'for (let at = 0; at < 3; at++) log.info({ at });';
    const programs = Array.from({ length: 10 }, () => program(code));
    await Promise.all(programs.map(({ ended }) => ended));
    expect(programs.map(({ lines }) => lines().length)).to.deep.equal(programs.map(() => 3));
  });

  it('is written within about a second, though nothing follows and nothing ends', async () => {
    const { child, lines, ended } = program(
      "log.info('one'); process.stdin.on('end', () => process.exit()).resume();",
    );
    await once(child.stderr, 'data');
    expect(lines()).to.have.length(1);
    child.stdin.end();
    await ended;
    expect(lines()).to.have.length(1);
  });

  it('reports the number of dropped lines if the reader is too slow', async () => {
    const count = 200_000;
    const { lines, ended } = program(
      `for (let at = 0; at < ${count}; at++) log.info({ at, text: 'x'.repeat(100) });`,
    );
    await ended;
    type Line = { at?: number; lines?: number };
    const all = lines().map((line) => JSON.parse(line) as Line);
    const missing = all.reduce((sum, line) => sum + (line.lines ?? 0), 0);
    expect(missing).to.be.above(0);
    expect(all.filter(({ at }) => at !== undefined)).to.have.length(count - missing);
  });

  describe('that cannot be written', () => {
    const FULL = '/dev/full';
    /** Tries for longer than it takes to write, and says at its end how it is. */
    const code = `let left = 30;
      const timer = setInterval(() => {
        for (let at = 0; at < 200; at++) log.info({ at, text: 'x'.repeat(100) });
        if (--left > 0) return;
        clearInterval(timer);
        process.stdout.write('well');
      }, 10);`;

    async function ends(stderr: number | 'pipe'): Promise<unknown> {
      const child = spawn(process.execPath, argumentsOf(code), {
        cwd: BUNDLE.absWorkingDir,
        stdio: ['ignore', 'pipe', stderr],
      });
      child.stderr?.destroy();
      let said = '';
      child.stdout?.setEncoding('utf8').on('data', (piece: string) => (said += piece));
      const [status] = (await once(child, 'close')) as [number | null];
      return { status, said };
    }

    it('with a closed reader, blocks neither the process nor its exit', async () => {
      expect(await ends('pipe')).to.deep.equal({ status: 0, said: 'well' });
    });

    (existsSync(FULL) ? it : it.skip)(
      'with a full disk, blocks neither the process nor its exit',
      async () => {
        const full = openSync(FULL, 'w');
        try {
          expect(await ends(full)).to.deep.equal({ status: 0, said: 'well' });
        } finally {
          closeSync(full);
        }
      },
    );
  });

  it('shows the message of an error and none of its other properties', async () => {
    const { lines, ended } = program(
      "log.error({ err: Object.assign(new Error('outer', { cause: new Error('inner') }), { key: 'tg-secret' }) });",
    );
    await ended;
    const [line = ''] = lines();
    expect(line).to.include('outer').and.to.include('inner').and.not.to.include('tg-secret');
  });
});
