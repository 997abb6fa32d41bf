import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../src/store/open.js';
import type { Store } from '../../../src/store/store-types.js';
import { ask } from '../../helpers/ask.js';
import { until } from '../../helpers/until.js';
import { run, serve, type GatewayProcess } from '../../money/helpers/gateway-process.js';
import {
  videoUpstreamFiles,
  startVideoUpstream,
  type VideoUpstream,
  type Say,
} from './helpers/video-upstream.js';
import {
  bodyOf,
  dollars,
  MODEL,
  submitTo,
  yamlOf,
  type TaskBody,
} from './helpers/video-gateway.js';

const MB = 1024 * 1024;
const VIDEO_BYTES = 400 * MB;
/** Node 24 collects the packets that went out only when they are 64 MB; Node 20 does it earlier. */
const MAX_GROWTH_BYTES = (64 + 32) * MB;
const CREDIT = dollars(1000);
const SUBMISSION = { prompt: 'x', parameters: { duration_seconds: 1 } };

/** Never answers; resolves `reached` when it is asked. */
function hang(): { say: Say; reached: Promise<void> } {
  let tell = (): void => undefined;
  const reached = new Promise<void>((resolve) => (tell = resolve));
  return { say: () => tell(), reached };
}

describe('video gateways in separate processes', () => {
  let folder: string;
  let config: string;
  let lab: VideoUpstream;
  let store: Store;
  let account_id: string;
  let secret: string;
  const living = new Set<GatewayProcess>();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-video-'));
    config = join(folder, 'gateway.yaml');
    lab = await startVideoUpstream();
    for (const [name, text] of Object.entries(await videoUpstreamFiles())) {
      await writeFile(join(folder, name), text.replace('poll_interval: 2s', 'poll_interval: 10ms'));
    }
    const yaml = yamlOf(lab, {}).replaceAll('poll_interval: 2s', 'poll_interval: 10ms');
    await writeFile(
      config,
      `listen: 127.0.0.1:0\nstore: sqlite:tollgate.db\nlog: { level: fatal }\n${yaml}`,
    );
    store = await openStore(`sqlite:${join(folder, 'tollgate.db')}`, { now: Date.now });
    ({ id: account_id } = await store.createAccount('tester', CREDIT));
    ({ secret } = await store.createKey(account_id, 'test'));
  });

  afterEach(async () => {
    for (const victim of living) await victim.kill();
    living.clear();
    expect((await store.verify()).faults).to.deep.equal([]);
    await store.close();
    await lab.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(): Promise<GatewayProcess & { secret: string }> {
    const victim = await serve(config);
    living.add(victim);
    return { ...victim, secret };
  }

  async function begin(at: { url: string }): Promise<string> {
    const { text } = await submitTo({ ...at, secret }, SUBMISSION, MODEL, {});
    return (JSON.parse(text) as TaskBody).request_id;
  }

  const result = async (at: { url: string }, id: string): Promise<TaskBody> =>
    bodyOf(await ask({ ...at, secret }, `/v1/queue/${MODEL}/requests/${id}`), 'video-result');

  async function charges(): Promise<number> {
    const rows = await store.ledger(account_id, { limit: 1_000 });
    return rows.filter(({ kind }) => kind === 'charge').length;
  }

  it('log the task whose submission a kill interrupted', async () => {
    const victim = await start();
    const { say, reached } = hang();
    lab.onSubmit = () => say;
    const submitting = begin(victim).catch(() => undefined);
    await reached;
    expect(await store.tasks.list({ limit: 2 })).to.have.length(1);
    await victim.kill();
    expect(await submitting).to.equal(undefined);
    const heir = await start();
    const [task] = await store.tasks.list({ limit: 2 });
    expect(task).to.deep.include({ status: 'FAILED', provider: 'lab', hold_nano: 0n });
    expect(task?.error).to.contain('The gateway stopped while submitting');
    const { code, output } = await run(['task', 'list', '--json', '--config', config]);
    expect(code).to.equal(0);
    expect(JSON.parse(output)).to.have.length(1);
    const body = bodyOf(
      await ask({ ...heir, secret }, `/v1/queue/${MODEL}/requests/${task?.id}/status`),
      'video-status',
    );
    expect(body.status).to.equal('FAILED');
    expect(await store.account(account_id)).to.deep.include({ held_nano: 0n });
  });

  it('continue the tasks of killed gateways', async () => {
    const victim = await start();
    const id = await begin(victim);
    await victim.kill();
    const asked = await start();
    const { say, reached } = hang();
    lab.onPoll = (film, nth) => (nth === 1 ? say : { state: 'done', reels: [`/reels/${film}`] });
    const polling = result(asked, id).catch(() => undefined);
    await reached;
    await asked.kill();
    expect(await polling).to.equal(undefined);
    const heir = await start();
    let body: TaskBody | undefined;
    while (body?.status !== 'COMPLETED') body = await result(heir, id);
    await heir.kill();
    const last = await start();
    expect(await result(last, id)).to.deep.equal(body);
    expect(await charges()).to.equal(1);
  });

  it('charge once for 50 results at once of two of them', async () => {
    const [one, two] = [await start(), await start()];
    const id = await begin(one);
    await ask({ ...one, secret }, `/v1/queue/${MODEL}/requests/${id}/status`);
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, at) => result(at % 2 ? one : two, id)),
    );
    expect(new Set(results.map(({ data }) => data?.[0]?.url)).size).to.equal(1);
    expect(await charges()).to.equal(1);
  });

  it(`carry ${VIDEO_BYTES / MB} MB in ${MAX_GROWTH_BYTES / MB} MB of memory`, async () => {
    const gateway = await start();
    const { data } = await result(gateway, await begin(gateway));
    const url = gateway.url + (data?.[0]?.url ?? '');
    const headers = { authorization: `Bearer ${secret}` };
    let sent = 0;
    const film = (bytes: number) => {
      sent = 0;
      lab.onReel = async (_, response) => {
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
        const packet = Buffer.alloc(MB / 4);
        for (; sent < bytes; sent += packet.length) {
          if (!response.write(packet)) await once(response, 'drain');
        }
        response.end();
      };
    };
    // Once for the code and the buffers that any answer needs.
    film(20 * MB);
    await (await fetch(url, { headers })).arrayBuffer();
    film(VIDEO_BYTES);
    const call = request(url, { headers, agent: false }).end();
    const [message] = (await once(call, 'response')) as [IncomingMessage];
    const before = residentBytes(gateway.pid);
    let peak = before;
    let received = 0;
    for await (const chunk of message) {
      if (received === 0) expect(sent).to.be.lessThan(VIDEO_BYTES);
      received += (chunk as Buffer).length;
      peak = Math.max(peak, residentBytes(gateway.pid));
    }
    expect(received).to.equal(VIDEO_BYTES);
    expect(peak - before).to.be.lessThan(MAX_GROWTH_BYTES);
    await until(() => message.complete, 'the answer is whole');
  });
});

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/u.exec(status)?.[1]) * 1024;
}
