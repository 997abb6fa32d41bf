import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
/** The names of one thing in both versions of control groups. */
const FILES = existsSync(join(ROOT, 'memory'))
  ? {
      root: join(ROOT, 'memory'),
      limit: 'memory.limit_in_bytes',
      most: 'memory.max_usage_in_bytes',
    }
  : { root: ROOT, limit: 'memory.max', most: 'memory.peak' };

/** A memory limit as a container has it, for processes that enter it. Needs root. */
export class Container {
  readonly #folder: string;

  constructor(bytes: number) {
    this.#folder = join(FILES.root, `tollgate-bench-${process.pid}`);
    mkdirSync(this.#folder);
    writeFileSync(join(this.#folder, FILES.limit), String(bytes));
  }

  /** A command that enters the container and becomes the other one there. */
  inside(command: readonly string[]): [file: string, ...args: string[]] {
    const enter = `echo $$ > '${join(this.#folder, 'cgroup.procs')}' && exec "$@"`;
    return ['sh', '-c', enter, 'sh', ...command];
  }

  /** The most memory that was used at once, the cache of files included. */
  most(): number {
    return Number(readFileSync(join(this.#folder, FILES.most), 'utf8'));
  }

  /** Once its processes have ended. */
  remove(): void {
    rmdirSync(this.#folder);
  }
}
