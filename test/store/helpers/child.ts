import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of its own that runs a script of this folder, which says what it prints. */
export class Child {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  #rest = '';
  #wake = (): void => undefined;

  constructor(script: 'spender' | 'rate-taker', url: string, ...rest: (string | number)[]) {
    const path = fileURLToPath(new URL(`./${script}.ts`, import.meta.url));
    this.#process = fork(path, [url, ...rest.map(String)], {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    this.#ended = once(this.#process, 'close');
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#process.once('close', () => this.#wake());
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Resolves when it has printed so many lines. */
  async settled(count: number): Promise<void> {
    while (this.lines.length < count && this.#process.exitCode === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.lines.length < count) throw new Error(`It ended after ${this.lines.length}.`);
  }

  /** Ends it without a chance to tidy up. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  /** Resolves with its exit status. */
  async end(): Promise<number | null> {
    await this.#ended;
    return this.#process.exitCode;
  }

  #read(text: string): void {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    this.lines.push(...parts);
    this.#wake();
  }
}
