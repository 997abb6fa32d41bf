import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startOwn } from './child.js';
import type { Order, Outcome } from './run.js';
import type { System } from './system.js';
import { requestBody } from './request-bodies.js';
import { eventsOf, gapOf, type Format, type Work } from './wording.js';

const HTTP_PORT = 80;
const PATHS: Record<Format, string> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

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
    const { base, pids, name } = system;
    const { connections, rate, format } = work;
    const events = eventsOf(work);
    const order: Order = {
      host: base.hostname,
      port: Number(base.port) || HTTP_PORT,
      path: base.pathname.replace(/\/$/u, '') + PATHS[format],
      headers: {
        ...(format === 'messages' && { 'anthropic-version': '2023-06-01' }),
        ...system.headers,
      },
      body: requestBody(work),
      events,
      answer_ms: events * gapOf(work),
      connections,
      rate,
      pids: [...pids],
      ...limits,
    };
    this.child.send(order);
    const [outcome] = (await once(this.child, 'message')) as [Outcome];
    this.#answers.set(name, (this.#answers.get(name) ?? 0) + outcome.answers);
    return outcome;
  }
}
