import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startOwn } from './child.js';
import type { Order, Outcome } from './run.js';
import type { System } from './system.js';
import { eventsOf, gapOf, requestBody, type Work } from './wording.js';

/** The load generator, and how many good answers each system has given it so far. */
export class Loader {
  readonly #answers = new Map<string, number>();

  private constructor(private readonly child: ChildProcess) {}

  static async start(folder: string): Promise<Loader> {
    const { child } = await startOwn(join(folder, 'load.js'), [], 'tools');
    return new Loader(child);
  }

  /** The good answers of a system, which are counted from 0 again. */
  takeAnswersOf({ name }: System): number {
    const answers = this.#answers.get(name) ?? 0;
    this.#answers.delete(name);
    return answers;
  }

  async run(
    system: System,
    work: Work,
    limits: Pick<Order, 'warm_ms' | 'measure_ms' | 'requests'>,
  ): Promise<Outcome> {
    const { port, headers, pids, name } = system;
    const { connections } = work;
    const events = eventsOf(work);
    const said = { port, headers, body: requestBody(work), events };
    const answer_ms = events * gapOf(work);
    const order: Order = { ...said, ...limits, answer_ms, connections, pids: [...pids] };
    this.child.send(order);
    const [outcome] = (await once(this.child, 'message')) as [Outcome];
    this.#answers.set(name, (this.#answers.get(name) ?? 0) + outcome.answers);
    return outcome;
  }
}
