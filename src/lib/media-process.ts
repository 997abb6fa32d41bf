import { setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { MediaAnswer, MediaFile, MediaQuestion } from './media-reader.js';
import { pagesOfPdf } from './pdf-pages.js';
import { secondsOfSound } from './sound-seconds.js';

/**
 * The process in which media of clients is read. It is not a thread, since a heap that is full ends
 * the process of its thread too, and no limit of threads counts buffers.
 */

/**
 * A thread of its own, as this one is busy for long. Ends the process if it takes too much memory
 * or processor time, or has lost its parent. A text, so that it needs no file and no loader.
 */
const WATCH = `
const { max_bytes, due_ms, parent } = require('node:worker_threads').workerData;
setInterval(() => {
  const { user, system } = process.cpuUsage();
  const isLate = (user + system) / 1_000 > Atomics.load(due_ms, 0);
  const isLarge = process.memoryUsage.rss() > max_bytes;
  if (isLate || isLarge || process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, 20);`;

/** The processor time, in ms since the start, at which the files of a request must be read. */
const due_ms = new Int32Array(new SharedArrayBuffer(4)).fill(0x7f_ff_ff_ff);

function setDue(limit_ms: number): void {
  const { user, system } = process.cpuUsage();
  Atomics.store(due_ms, 0, (user + system) / 1_000 + limit_ms);
}

type Reader = (bytes: Uint8Array) => Promise<number>;

/** Loaded before the process is ready: that is no fault of a file. */
const READERS: Readonly<Record<MediaFile['kind'], Reader>> = {
  pdf: pagesOfPdf,
  sound: secondsOfSound,
};

async function answer({ at, file, limit_ms }: MediaQuestion): Promise<MediaAnswer> {
  const { kind, data } = file;
  if (at === 0) setDue(limit_ms);
  try {
    return {
      at,
      size: await READERS[kind](typeof data === 'string' ? Buffer.from(data, 'base64') : data),
    };
  } catch {
    return { at, size: null };
  }
}

/** Requests come first on a busy machine: this process gets a third of their share. */
const NICENESS = 5;
setPriority(NICENESS);
const max_bytes = Number(process.argv[2]);
new Worker(WATCH, { eval: true, workerData: { max_bytes, due_ms, parent: process.ppid } });
// A drain, and a terminal, send these to all processes: the parent decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', (question: MediaQuestion) => {
  void answer(question).then((answered) => process.send?.(answered));
});
process.send?.('ready');
