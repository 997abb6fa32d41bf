import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { until } from '../helpers/until.js';
import type { Said, Told, Verdict, Vitals } from './gateway.js';
import { shots, type Shot } from './shots.js';

export interface FuzzOptions {
  requests: number;
  seed: number;
  /** Told now and then. */
  progress?: (done: number) => void;
}

export interface FuzzReport {
  requests: number;
  /** How many answers of each status; `none` for sockets that closed without one. */
  statuses: Record<string, number>;
  /** Resident before the load was counted, after the warm-up. */
  warm_bytes: number;
  vitals: Vitals;
  verdict: Verdict;
  seconds: number;
}

const GATEWAY = fileURLToPath(new URL('./gateway.ts', import.meta.url));
const AT_ONCE = 32;
const BATCH = 500;

/** Every limit as low as it goes without refusing everything. */
const YAML = `listen: 127.0.0.1:0
store: sqlite:tollgate.db
drain: 1s
keep_alive: 100ms
limits:
  { body: 96kb, body_values: 2000, body_stall: 200ms, in_flight_bytes: 8mb, answer: 256kb,
    stream: 64kb, event: 8kb, drain: 100ms, drain_bytes: 1kb, client: 200ms, connections: 2,
    idle_connection: 100ms, keys: 1, task: 2s, idempotency: 1s, idempotency_total: 64kb,
    image_bytes: 64kb, images_total: 128kb, image_ttl: 1s, failed_keys: 1000, sign_ins: 1 }
owners: { tollgate: { name: Tollgate } }
providers: { simulator: { settings: { tokens_per_second: 100000 } } }
models:
  sim-chat: { owner: tollgate, capabilities: [chat, vision, audio, tools], upstreams: [{ provider: simulator }], limits: { max_tokens: 64, context: 4096 }, price: { input_per_million: 0.15, output_per_million: 0.60 } }
  sim-free: { owner: tollgate, capabilities: [chat], upstreams: [{ provider: simulator }], limits: { max_tokens: 64 }, price: free }
  sim-image: { owner: tollgate, capabilities: [image], upstreams: [{ provider: simulator }], price: { per_image: 0.04 } }
  sim-video: { owner: tollgate, capabilities: [video], upstreams: [{ provider: simulator }], price: { per_video_second: { 720p: { silent: 0.02, audio: 0.04 } } } }
endpoints:
  '*': { after: { validate: [{ deny: { words: [nightjar] } }, { mask: { also: ['[a-c]{3}'] } }] } }
`;

/** Sends that many requests to a gateway in a process of its own, and tells how it fared. */
export async function fuzz({ requests, seed, progress }: FuzzOptions): Promise<FuzzReport> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-fuzz-'));
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, YAML);
  const child = fork(GATEWAY, [file], {
    execArgv: ['--import', 'tsx', '--max-old-space-size=256'],
  });
  try {
    const { url, secrets } = await heard(child, 'up');
    const port = Number(new URL(url).port);
    const arbitrary = shots(secrets);
    const statuses: Record<string, number> = {};
    const warm = await warmUp(child, port, fc.sample(arbitrary, { numRuns: 1_000, seed }));
    const started = performance.now();
    for (let done = 0; done < requests; done += BATCH) {
      const numRuns = Math.min(BATCH, requests - done);
      const batch = fc.sample(arbitrary, { numRuns, seed: seed + done + 1 });
      await sendAll(port, batch, (status) => (statuses[status] = (statuses[status] ?? 0) + 1));
      progress?.(done + numRuns);
    }
    const seconds = (performance.now() - started) / 1_000;
    const vitals = await settled(child);
    tell(child, 'stop');
    const { verdict } = await heard(child, 'verdict');
    await once(child, 'exit');
    return { requests, statuses, warm_bytes: warm.rss_bytes, vitals, verdict, seconds };
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is compiled on first use takes its time, and is not counted. */
async function warmUp(child: ChildProcess, port: number, batch: Shot[]): Promise<Vitals> {
  await sendAll(port, batch, () => undefined);
  const vitals = await vitalsOf(child);
  tell(child, 'reset');
  return vitals;
}

/** Calls of clients that have left end by themselves. */
async function settled(child: ChildProcess): Promise<Vitals> {
  let vitals = await vitalsOf(child);
  const isIdle = async (): Promise<boolean> => {
    vitals = await vitalsOf(child);
    return vitals.in_flight_bytes === 0;
  };
  await until(isIdle, 'all memory is given back', 20_000);
  return vitals;
}

async function vitalsOf(child: ChildProcess): Promise<Vitals> {
  const answer = heard(child, 'vitals');
  tell(child, 'vitals');
  return (await answer).vitals;
}

function tell(child: ChildProcess, told: Told): void {
  if (child.connected) child.send(told);
}

/** The next thing of that kind that it says; rejects where it ends first. */
function heard<K extends Said['say']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<Said, { say: K }>> {
  return new Promise((resolve, reject) => {
    const listen = (said: Said): void => {
      if (said.say !== kind) return;
      child.off('message', listen).off('exit', over);
      resolve(said as Extract<Said, { say: K }>);
    };
    const over = (code: number | null, signal: string | null): void =>
      reject(new Error(`The gateway ended: ${code ?? signal}.`));
    child.on('message', listen).once('exit', over);
  });
}

async function sendAll(
  port: number,
  batch: readonly Shot[],
  count: (status: string) => void,
): Promise<void> {
  const rest = batch.values();
  const lane = async (): Promise<void> => {
    for (const shot of rest) for (const status of await send(port, shot)) count(status);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** The statuses that come back on a socket of the shot's own. */
async function send(port: number, { bytes, patience_ms }: Shot): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (data: string) => {
    text += data;
    if (isWhole(text, isHead)) socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.write(bytes);
  const isHead = bytes.toString('latin1', 0, 5) === 'HEAD ';
  const patience = setTimeout(() => socket.destroy(), patience_ms);
  await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(patience);
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gmu)].map(([, status = '']) => status);
  return statuses.length > 0 ? statuses : ['none'];
}

/** Near enough: the first answer is here. */
function isWhole(text: string, isHead: boolean): boolean {
  if (text.startsWith('HTTP/1.1 100')) return text.split('\r\n\r\n').length > 2;
  if (!isHead && /transfer-encoding: chunked/iu.test(text)) return text.endsWith('0\r\n\r\n');
  const end = text.indexOf('\r\n\r\n');
  if (end < 0 || isHead) return end >= 0;
  const length = Number(/^content-length: (\d+)/imu.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length >= end + 4 + length;
}
