import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A file of a client: a PDF by its pages, or sound by its seconds. */
export interface MediaFile {
  kind: 'pdf' | 'sound';
  /** Its base64, or its bytes. */
  data: string | Uint8Array;
}

/** The pages or seconds of each file; undefined for one that could not be read in time. */
export type MediaSizes = readonly (number | undefined)[];

/** The question to the process that reads media, and its answer. `at` is the index of the file. */
export interface MediaQuestion {
  at: number;
  file: MediaFile;
  limit_ms: number;
}
export interface MediaAnswer {
  at: number;
  size: number | null;
}

export interface MediaTerms {
  /** Files of one account are read one request after another. */
  account_id: string;
  /** The processor time that the files of one request may take, all together. */
  limit_ms: number;
  /** The memory of the process that reads them. */
  max_bytes: number;
}

interface Job extends MediaTerms {
  files: readonly MediaFile[];
  sizes: (number | undefined)[];
  since_ms: number;
  done(): void;
}

const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const ENTRY = fileURLToPath(new URL(`../lib/media-process.${EXTENSION}`, import.meta.url));
/** One process may read for an attacker; the other is for everybody else. */
const MAX_PROCESSES = 2;
/**
 * A job may wait for its turn, and then run, for so many times its processor time: other programs
 * use the processor too.
 */
const MAX_WAIT = 4;
const MAX_JOBS = 200;
const START_MS = 60_000;
const IDLE_MS = 30_000;

/**
 * Reads media of clients in processes of its own, so that no file stalls or ends this one. A file
 * that takes too much time or memory ends its process, and is not read.
 */
export class MediaReader {
  readonly #waiting = new Map<string, Job[]>();
  readonly #processes = new Set<MediaProcess>();
  #jobs = 0;
  #isClosed = false;

  /** What could be read of the files, in their order. Identical ones are read once. */
  async read(files: readonly MediaFile[], terms: MediaTerms): Promise<MediaSizes> {
    const distinct = [...new Map(files.map((file) => [file.data, file])).values()];
    const sizes = await this.#read(distinct, terms);
    const found = new Map(distinct.map(({ data }, at) => [data, sizes[at]]));
    return files.map(({ data }) => found.get(data));
  }

  #read(files: readonly MediaFile[], terms: MediaTerms): Promise<MediaSizes> {
    const sizes = files.map(() => undefined);
    if (this.#isClosed || this.#jobs >= MAX_JOBS) return Promise.resolve(sizes);
    this.#jobs += 1;
    return new Promise((resolve) => {
      const job: Job = {
        ...terms,
        files,
        sizes,
        since_ms: performance.now(),
        done: () => {
          this.#jobs -= 1;
          resolve(job.sizes);
        },
      };
      const own = this.#waiting.get(terms.account_id);
      if (own) own.push(job);
      else this.#waiting.set(terms.account_id, [job]);
      this.#next();
    });
  }

  /** Ends all processes, and what they read. */
  close(): void {
    this.#isClosed = true;
    for (const jobs of this.#waiting.values()) for (const job of jobs) job.done();
    this.#waiting.clear();
    for (const process of this.#processes) process.end();
  }

  /** Begins the jobs that can begin. */
  #next(): void {
    for (let job = this.#due(); job; job = this.#due()) {
      const free = [...this.#processes].find((one) => one.isFree);
      (free ?? this.#start(job.max_bytes)).run(job);
    }
  }

  #start(max_bytes: number): MediaProcess {
    const process = new MediaProcess(max_bytes, () => {
      if (process.hasEnded) this.#processes.delete(process);
      this.#next();
    });
    this.#processes.add(process);
    return process;
  }

  /** Takes the job whose turn it is: of each account one, and one account after another. */
  #due(): Job | undefined {
    const busy = [...this.#processes].filter((one) => !one.isFree);
    if (busy.length >= MAX_PROCESSES) return undefined;
    for (const [account_id, jobs] of this.#waiting) {
      if (busy.some(({ job }) => job?.account_id === account_id)) continue;
      this.#waiting.delete(account_id);
      const [job, ...others] = jobs;
      // Behind all other accounts.
      if (others.length > 0) this.#waiting.set(account_id, others);
      if (!job) continue;
      if (performance.now() - job.since_ms <= MAX_WAIT * job.limit_ms) return job;
      job.done();
    }
    return undefined;
  }
}

/** A process that reads the files of one job at a time. */
class MediaProcess {
  readonly #child: ChildProcess;
  #timer: NodeJS.Timeout | undefined;
  #isReady = false;
  #left: MediaQuestion[] = [];
  job: Job | undefined;
  hasEnded = false;

  /** Calls `onFree` whenever it has done a job, and when it has ended. */
  constructor(
    max_bytes: number,
    private readonly onFree: () => void,
  ) {
    const heap_mb = Math.floor(max_bytes / 2 / 1024 ** 2);
    this.#child = fork(ENTRY, [String(max_bytes)], {
      // It knows no secret, and prints nothing.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      execArgv: [
        ...(EXTENSION === 'ts' ? process.execArgv : []),
        `--max-old-space-size=${heap_mb}`,
      ],
    });
    this.#child
      .on('message', (message) => this.#take(message))
      .on('error', () => this.#finish())
      .on('exit', () => this.#finish());
    this.#child.unref();
    this.#child.channel?.unref();
  }

  get isFree(): boolean {
    return this.job === undefined && !this.hasEnded;
  }

  run(job: Job): void {
    this.job = job;
    const { limit_ms } = job;
    this.#left = job.files.map((file, at) => ({ at, file, limit_ms }));
    this.#endAfter(MAX_WAIT * limit_ms + (this.#isReady ? 0 : START_MS));
    if (this.#isReady) this.#ask();
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  #endAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), ms).unref();
  }

  #ask(): void {
    const question = this.#left.shift();
    if (question) {
      // A process that has ended meanwhile reports its exit.
      this.#child.send(question, () => undefined);
      return;
    }
    const { job } = this;
    this.job = undefined;
    this.#endAfter(IDLE_MS);
    job?.done();
    this.onFree();
  }

  #take(message: unknown): void {
    if (this.#isReady) {
      const { at, size } = message as MediaAnswer;
      if (this.job && isSize(size)) this.job.sizes[at] = size;
    }
    this.#isReady = true;
    this.#ask();
  }

  #finish(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearTimeout(this.#timer);
    this.job?.done();
    this.onFree();
  }
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
