import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { start, stop, temporaryFolder } from './child.js';
import { freePort } from '../helpers/free-port.js';
import { taken } from './ports.js';
import { requestBody } from './request-bodies.js';
import { MAIN, runCommand } from './tollgate.js';
import { FORMATS, modelOf, type Work } from './wording.js';

// What a call holds while its upstream thinks, by the size of its body:
// npx tsx test/bench/call-memory.ts 0,200,800,2000, in KB, where 0 is a small call. Each line is
// after a full collection, with so many calls in flight that all together have some 40 MB.

const sizes = (process.argv[2] ?? '0,200,800,2000').split(',').map(Number);
const ALL_BYTES = 40e6;
const MOST_CALLS = 1_000;
const KB = 1_024;
const PATHS = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};
const PROVIDERS = { chat: 'openai', messages: 'anthropic', responses: 'openai' };

interface Memory {
  heapUsed: number;
  external: number;
  rss: number;
}

const folder = temporaryFolder();
const report = join(folder, 'memory.json');
/** Tells the memory after a full collection, at each SIGUSR2. */
const preload = join(folder, 'preload.cjs');
writeFileSync(
  preload,
  `if (process.argv.includes('serve')) process.on('SIGUSR2', () => {
    for (let i = 0; i < 4; i += 1) gc();
    require('node:fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify(process.memoryUsage()));
  });`,
);

const waiting: ServerResponse[] = [];
const upstream = createServer((req, res) => {
  req.resume().on('end', () => waiting.push(res));
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');
const { port: upstream_port } = upstream.address() as AddressInfo;
const base_url = `http://127.0.0.1:${upstream_port}/v1`;

const works = FORMATS.flatMap((format) =>
  sizes.map((kb): Work & { connections: number } => ({
    kind: 'json',
    connections: 1,
    format,
    upstream_format: format,
    turn_bytes: kb === 0 ? undefined : kb * KB,
    rate: undefined,
  })),
);
const models = new Map(works.map((work) => [modelOf(work), work.format]));
const port = await freePort();
const config = join(folder, 'gateway.yaml');
writeFileSync(
  config,
  `listen: 127.0.0.1:${port}
public_url: http://127.0.0.1:${port}
store: sqlite:tollgate.db
limits: { in_flight_bytes: 4gb, in_flight: 4000 }
owners: { bench: { name: Bench } }
providers:
  openai: { api_key: sk-bench, base_url: '${base_url}' }
  anthropic: { api_key: sk-bench, base_url: '${base_url}' }
models:
${[...models]
  .map(
    ([id, format]) => `  ${id}:
    owner: bench
    capabilities: [chat, tools]
    upstreams: [{ provider: ${PROVIDERS[format]}, model: ${format === 'responses' ? 'gpt-5.4-pro' : id} }]
    limits: { max_tokens: 4096, context: 8000000 }
    price: { input_per_million: 0.15, output_per_million: 0.60 }
`,
  )
  .join('')}`,
);
const run = (...args: string[]): unknown => runCommand(MAIN, config, args);
run('account', 'create', 'bench', '--credit', '1000000');
const { secret } = run('key', 'create', 'bench', '--name', 'bench') as { secret: string };
const gateway = start(
  process.execPath,
  ['--expose-gc', '--require', preload, MAIN, 'serve', '--config', config],
  { side: 'system' },
);
await taken(port, gateway, 20_000);

console.log('format      body KB   calls   heap KB a call   buffers KB a call   RSS MB');
for (const work of works) {
  const warm = await hold(work, 20);
  answer();
  await warm.ended;
  const before = await memory();
  const body_bytes = Buffer.byteLength(requestBody(work));
  const calls = Math.min(MOST_CALLS, Math.round(ALL_BYTES / body_bytes));
  const { ended } = await hold(work, calls);
  const during = await memory();
  answer();
  await ended;
  const share = (name: 'heapUsed' | 'external'): string =>
    ((during[name] - before[name]) / calls / KB).toFixed(1);
  const cells = [
    work.format.padEnd(10),
    (body_bytes / KB).toFixed(0).padStart(8),
    String(calls).padStart(7),
    share('heapUsed').padStart(16),
    share('external').padStart(19),
    (during.rss / KB / KB).toFixed(0).padStart(8),
  ];
  console.log(cells.join(' '));
}
await stop(gateway);
upstream.close();
upstream.closeAllConnections();

/** Makes calls, and waits until all are at the upstream. */
async function hold(work: Work, calls: number): Promise<{ ended: Promise<unknown> }> {
  const agent = new Agent();
  const body = Buffer.from(requestBody(work));
  const ended = Promise.all(Array.from({ length: calls }, () => call(work, body, agent)));
  while (waiting.length < calls) await sleep(10);
  return { ended };
}

function answer(): void {
  // The memory is measured, not the answer.
  for (const res of waiting.splice(0)) res.writeHead(400).end('{"error":{"message":"no"}}');
}

async function call({ format }: Work, body: Buffer, agent: Agent): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    authorization: `Bearer ${secret}`,
  };
  const req = request({
    host: '127.0.0.1',
    port,
    path: PATHS[format],
    method: 'POST',
    headers,
    agent,
  });
  req.end(body);
  const [res] = (await once(req, 'response')) as [NodeJS.ReadableStream];
  await once(res.resume(), 'end');
}

async function memory(): Promise<Memory> {
  writeFileSync(report, '');
  gateway.kill('SIGUSR2');
  while (!existsSync(report) || readFileSync(report, 'utf8') === '') await sleep(20);
  await sleep(50);
  return JSON.parse(readFileSync(report, 'utf8')) as Memory;
}
