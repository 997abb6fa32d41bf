import type { ChildProcess } from 'node:child_process';
import { cpuOf, familyOf, rssOf } from './proc.js';
import type { ClientsReport } from './streams-clients.js';

const MB = 1_024 ** 2;
const STEP_MS = 10_000;

/** What was seen in each ten seconds or so, a line each, and what of all of them is needed. */
export class Rounds {
  answers = 0;
  readonly complaints: string[] = [];
  readonly #begun_ms = performance.now();
  readonly #timer: NodeJS.Timeout;
  #reports: ClientsReport[] = [];
  readonly #all: Record<'event_ms' | 'plain_ms' | 'turn_ms', number[]> = {
    event_ms: [],
    plain_ms: [],
    turn_ms: [],
  };
  #cpu_ms = 0;

  constructor(private readonly gateway: ChildProcess) {
    say(
      '     s  open  RSS MB  CPU % |  events   p50    p99    max | plain p50  p99 | turns p50  p99',
    );
    this.#timer = setInterval(() => this.#line(), STEP_MS);
  }

  take(report: ClientsReport): void {
    this.#reports.push(report);
    this.answers += report.streams + report.plain + report.turns;
    for (const complaint of report.complaints) {
      if (this.complaints.length < 3) say(`  ${complaint}`);
      this.complaints.push(complaint);
    }
  }

  finish(): void {
    clearInterval(this.#timer);
    this.#line();
    say(`   all times: ${timesOf([this.#all])}`);
  }

  #line(): void {
    const pids = familyOf(this.gateway.pid ?? 0);
    const cpu_ms = cpuOf(pids) ?? 0;
    const share = ((cpu_ms - this.#cpu_ms) / STEP_MS) * 100;
    this.#cpu_ms = cpu_ms;
    const reports = this.#reports;
    this.#reports = [];
    for (const report of reports) {
      this.#all.event_ms.push(...report.event_ms);
      this.#all.plain_ms.push(...report.plain_ms);
      this.#all.turn_ms.push(...report.turn_ms);
    }
    const open = Math.max(0, ...reports.map((report) => report.open));
    const seconds = (performance.now() - this.#begun_ms) / 1_000;
    const rss = (rssOf(pids) ?? 0) / MB;
    say(
      `${seconds.toFixed(0).padStart(6)}${String(open).padStart(6)}${rss.toFixed(0).padStart(8)}` +
        `${share.toFixed(0).padStart(7)} | ${timesOf(reports)}`,
    );
  }
}

type Times = Pick<ClientsReport, 'event_ms' | 'plain_ms' | 'turn_ms'>;

function timesOf(reports: readonly Times[]): string {
  const sorted = (what: keyof Times) =>
    reports.flatMap((one) => one[what]).toSorted((a, b) => a - b);
  const part = (times: number[], ...shares: number[]) =>
    shares.map((share) => (times[Math.ceil(times.length * share) - 1] ?? 0).toFixed(1).padStart(7));
  const [events, plain, turns] = [sorted('event_ms'), sorted('plain_ms'), sorted('turn_ms')];
  return [
    [String(events.length).padStart(7), ...part(events, 0.5, 0.99, 1)].join(''),
    part(plain, 0.5, 0.99).join(''),
    [String(turns.length).padStart(5), ...part(turns, 0.5, 0.99)].join(''),
  ].join(' | ');
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
