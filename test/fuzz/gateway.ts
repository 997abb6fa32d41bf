import { pino } from 'pino';
import { Gateway, checkOrThrow } from '../../src/gateway/gateway.js';
import { until } from '../helpers/until.js';

/** What the process under fuzz tells of itself. */
export interface Vitals {
  /** The longest time between two turns of a timer, of which this process was at work. */
  stall_ms: number;
  /** The same with the time that other processes had the core. */
  gap_ms: number;
  rss_bytes: number;
  in_flight_bytes: number;
}

export interface Verdict {
  open_holds: number;
  faults: readonly unknown[];
}

export type Said =
  | { say: 'up'; url: string; secrets: Record<'rich' | 'other' | 'poor', string> }
  | { say: 'vitals'; vitals: Vitals }
  | { say: 'verdict'; verdict: Verdict };

export type Told = 'reset' | 'vitals' | 'stop';

const TICK_MS = 5;
const vitals: Vitals = { stall_ms: 0, gap_ms: 0, rss_bytes: 0, in_flight_bytes: 0 };

/** A wait that costs no processor time is another process's doing, as on a busy machine. */
function watch(): void {
  let last_ms = performance.now();
  let last_cpu = process.cpuUsage();
  setInterval(() => {
    const now_ms = performance.now();
    const { user, system } = process.cpuUsage(last_cpu);
    const gap_ms = now_ms - last_ms - TICK_MS;
    vitals.gap_ms = Math.max(vitals.gap_ms, gap_ms);
    vitals.stall_ms = Math.max(vitals.stall_ms, Math.min(gap_ms, (user + system) / 1_000));
    vitals.rss_bytes = Math.max(vitals.rss_bytes, process.memoryUsage.rss());
    last_ms = now_ms;
    last_cpu = process.cpuUsage();
  }, TICK_MS).unref();
}

const say = (said: Said): void => void process.send?.(said);

async function main(file: string): Promise<void> {
  // A failure of our own is told on standard error, so that a fuzz that sees a 500 shows its cause.
  const log = pino({ level: 'error' }, process.stderr);
  const options = { log, now: Date.now, random: Math.random };
  const gateway = await Gateway.open(await checkOrThrow(file, {}), options);
  const { store } = gateway;
  const key = async (name: string, credit_nano: bigint): Promise<string> => {
    const { id } = await store.createAccount(name, credit_nano);
    return (await store.createKey(id, name)).secret;
  };
  const secrets = {
    rich: await key('rich', 1_000_000_000_000n),
    other: await key('other', 1_000_000_000_000n),
    poor: await key('poor', 0n),
  };
  const { host, port } = await gateway.listen();
  watch();
  process.on('message', (told: Told) => {
    if (told === 'reset') vitals.stall_ms = vitals.gap_ms = vitals.rss_bytes = 0;
    if (told === 'vitals') {
      vitals.in_flight_bytes = gateway.in_flight_bytes;
      say({ say: 'vitals', vitals });
    }
    if (told === 'stop') void judge(gateway);
  });
  say({ say: 'up', url: `http://${host}:${port}`, secrets });
}

async function judge(gateway: Gateway): Promise<void> {
  // Calls whose clients have left are heard out, and end by themselves.
  await until(async () => (await gateway.store.verify()).open_holds === 0, 'calls end', 20_000);
  const { open_holds, faults } = await gateway.store.verify();
  await gateway.stop();
  say({ say: 'verdict', verdict: { open_holds, faults } });
  process.disconnect();
}

await main(process.argv[2] ?? '');
