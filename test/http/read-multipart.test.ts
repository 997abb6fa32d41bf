import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryBudget } from '../../src/http/memory-budget.js';
import { readMultipartBody } from '../../src/http/read-multipart.js';

const TOTAL_BYTES = 512 * 1024 ** 2;
const BOUNDARY = 'XX';

interface Read {
  body?: Record<string, unknown>;
  error?: string;
  /** How often the event loop turned meanwhile. */
  turns: number;
}

function form(parts: readonly (string | Buffer)[], boundary = BOUNDARY): Buffer {
  const open = Buffer.from(`--${boundary}\r\n`);
  const all = parts.flatMap((part) => [open, Buffer.from(part), Buffer.from('\r\n')]);
  return Buffer.concat([...all, Buffer.from(`--${boundary}--\r\n`)]);
}

function field(name: string, value: string): string {
  return `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
}

function file(bytes: Buffer): Buffer {
  const head =
    'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n';
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** What is read of a form that a client sends over a real connection. */
async function read(bytes: Buffer, boundary = BOUNDARY): Promise<Read> {
  let turns = 0;
  let isOver = false;
  const result: Promise<Read> = new Promise((resolve) => {
    const server = createServer((req, res) => {
      const memory = new MemoryBudget().forRequest('a', TOTAL_BYTES);
      const terms = { limit_bytes: 99_000_000, values: 1, stall_ms: 9_000, memory };
      const turn = (): void => {
        turns += 1;
        if (!isOver) setImmediate(turn);
      };
      req.once('end', turn);
      readMultipartBody(req, { ...terms, admit: () => Promise.resolve() })
        .then(
          (body) => resolve({ body, turns }),
          (error: unknown) => resolve({ error: String(error), turns }),
        )
        .finally(() => {
          isOver = true;
          res.end();
          server.close();
          server.closeAllConnections();
        });
    });
    server.listen(0, '127.0.0.1');
    void once(server, 'listening').then(() => {
      const { port } = server.address() as AddressInfo;
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
      const body = new Uint8Array(bytes);
      fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body }).catch(() => undefined);
    });
  });
  return result;
}

describe('a form', () => {
  it('of 200,000 tiny fields held the process 12 s, and is refused at the first limit', async () => {
    const fields = Array.from({ length: 200_000 }, (_, at) => field(`f${at}`, 'x'));
    expect((await read(form(fields))).error).to.include('more than 64 fields');
  });

  it('of parts without a name is refused at the limit of parts', async () => {
    const parts = Array.from({ length: 20_000 }, () => 'Content-Type: text/plain\r\n\r\nx');
    expect((await read(form(parts))).error).to.include('more than 128 parts');
  });

  it('is read in steps, whatever its file looks like', async () => {
    for (const pattern of ['\r\n', '\r\n--X', 'x']) {
      const bytes = Buffer.alloc(3_000_000, pattern);
      const { body, turns } = await read(form([field('model', 'm'), file(bytes)]));
      const url = `data:audio/wav;base64,${bytes.toString('base64')}`;
      expect(body?.file === url).to.equal(true);
      expect(turns).to.be.greaterThan(50);
    }
  });

  for (const [what, parts, complaint] of [
    ['a field of 15 MB', [field('prompt', 'x'.repeat(15_000_000))], '262144 bytes'],
    ['a name of 200 characters', [field('n'.repeat(200), 'x')], 'a name of more than 100'],
    ['40 files', Array.from({ length: 40 }, () => file(Buffer.from('x'))), '32 files'],
  ] as const) {
    it(`with ${what} is refused`, async () => {
      expect((await read(form(parts))).error).to.include(complaint);
    });
  }

  it('with a boundary of 1,000 characters, which takes long to search for, is refused', async () => {
    const boundary = 'a'.repeat(1_000);
    const { error } = await read(form([file(Buffer.alloc(99_999, 'a'))], boundary), boundary);
    expect(error).to.include('boundary');
  });

  it('that is cut short is refused', async () => {
    const whole = form([field('model', 'm'), file(Buffer.alloc(99_999))]);
    expect((await read(whole.subarray(0, -9))).error).to.include('not a valid form');
  });
});
