import { Connection, requestOf, type Target } from './connection.js';
import { cpuOf } from './proc.js';

/** What to send, how hard and for how long. */
export interface Order extends Target {
  connections: number;
  /** Calls a second over all connections; without it, each sends when it is answered. */
  rate: number | undefined;
  /** Not measured: connections open and code gets warm. */
  warm_ms: number;
  /** The measured time; or, where `requests` is set, no longer than that. */
  measure_ms: number;
  /** End after this many answers instead of after a time. */
  requests?: number;
  /** How long one answer takes by itself. */
  answer_ms: number;
  /** Whose CPU time to read at both ends of the measured time. */
  pids: number[];
}

export interface Outcome {
  /** Good answers over the whole run, warming up and running out included. */
  answers: number;
  bad: number;
  /** What the first bad answer was. */
  complaint: string;
  /** All below are of the measured time alone. */
  measured: {
    seconds: number;
    answers: number;
    events: number;
    /** Until the whole answer came; in a stream, until its first text. */
    p50_ms: number;
    p99_ms: number;
    cpu_ms: number | undefined;
    own_cpu_ms: number | undefined;
  };
}

/** A run whose answers are so late is broken off and counts its open calls as bad. */
const LATE_MS = 20_000;

interface Mark {
  time_ms: number;
  answers: number;
  events: number;
  latencies: number;
  cpu_ms: number | undefined;
  own_cpu_ms: number;
}

/** One order carried out: that many connections kept busy, and what they saw counted. */
export class Run {
  readonly #connections: Connection[];
  #latencies: number[] = [];
  #answers = 0;
  #events = 0;
  #bad = 0;
  #complaint = '';
  #open = true;
  #next_ms: number | undefined;

  constructor(private readonly order: Order) {
    const seen = {
      latency: (ms: number) => void this.#latencies.push(ms),
      events: (count: number) => void (this.#events += count),
      answer: () => void (this.#answers += 1),
      bad: (complaint: string) => {
        this.#bad += 1;
        this.#complaint ||= complaint;
      },
      more: () => this.#more(),
      due_ms: () => this.#due(),
    };
    const { connections } = order;
    const request = requestOf(order);
    this.#connections = Array.from(
      { length: connections },
      () => new Connection(order, request, seen),
    );
  }

  #more(): boolean {
    const { requests, connections } = this.order;
    if (!this.#open) return false;
    return requests === undefined || this.#answers + this.#bad + connections <= requests;
  }

  #due(): number {
    const { rate } = this.order;
    if (rate === undefined) return performance.now();
    const due_ms = this.#next_ms ?? performance.now();
    this.#next_ms = due_ms + 1_000 / rate;
    return due_ms;
  }

  async run(): Promise<Outcome> {
    const { warm_ms, measure_ms, answer_ms, connections } = this.order;
    // Streams that all begin at once would send their events at once for ever after.
    const ends = this.#connections.map(async (connection, index) => {
      await pause((warm_ms * index) / connections);
      return connection.run();
    });
    await pause(warm_ms);
    const first = this.#mark();
    await Promise.race([pause(measure_ms), Promise.all(ends)]);
    const last = this.#mark();
    this.#open = false;
    await Promise.race([Promise.all(ends), pause(answer_ms + LATE_MS)]);
    for (const connection of this.#connections) connection.close();
    return this.#outcome(first, last);
  }

  #mark(): Mark {
    const { user, system } = process.cpuUsage();
    return {
      time_ms: performance.now(),
      answers: this.#answers,
      events: this.#events,
      latencies: this.#latencies.length,
      cpu_ms: cpuOf(this.order.pids),
      own_cpu_ms: (user + system) / 1_000,
    };
  }

  #outcome(first: Mark, last: Mark): Outcome {
    const latencies = this.#latencies.slice(first.latencies, last.latencies).sort((a, b) => a - b);
    return {
      answers: this.#answers,
      bad: this.#bad,
      complaint: this.#complaint,
      measured: {
        seconds: (last.time_ms - first.time_ms) / 1_000,
        answers: last.answers - first.answers,
        events: last.events - first.events,
        p50_ms: at(latencies, 0.5),
        p99_ms: at(latencies, 0.99),
        cpu_ms: difference(first.cpu_ms, last.cpu_ms),
        own_cpu_ms: last.own_cpu_ms - first.own_cpu_ms,
      },
    };
  }
}

function difference(first: number | undefined, last: number | undefined): number | undefined {
  return first === undefined || last === undefined ? undefined : last - first;
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
