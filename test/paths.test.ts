import { expect } from 'chai';
import { Session, type Profiler } from 'node:inspector/promises';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { join, relative } from 'node:path';
import { pino } from 'pino';
import { SharedClock } from '../src/lib/concurrency.js';
import { LogDestination } from '../src/telemetry/log.js';
import { startGateway, type TestGateway } from './helpers/gateway.js';
import { submitVideo } from './helpers/video-client.js';
import { chatJson, play, sse, startUpstream, type FakeUpstream } from './helpers/upstream.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const ROUNDS = 5;
const CONTENT = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' };

/** A word of a stream, as an upstream sends it. */
const word = (content: string, finish_reason: string | null = null): object => ({
  ...CONTENT,
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

/** The lists of CONTRIBUTING.md in the order in which they stand there. */
const [CHAT = [], CHARGE = [], PACKET = [], SUBMISSION = []] = [
  ...readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').matchAll(/```text\n([^`]*)```/gu),
].map(([, text = '']) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0] ?? ''),
);

/** Whether a function of a script was called. */
function hasRun({ functions }: Profiler.ScriptCoverage): boolean {
  return functions.some(({ ranges: [all] }) => all !== undefined && all.count > 0);
}

/** The path of a source file from the root of the project; undefined for any other script. */
function sourceOf(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined;
  const path = relative(ROOT, fileURLToPath(url));
  return /^(src|providers)\//u.test(path) ? path : undefined;
}

describe('the source files that are entered, which CONTRIBUTING.md lists,', () => {
  const inspector = new Session();
  let upstream: FakeUpstream;
  let tollgate: TestGateway;
  /** Lets the upstream send its next word. */
  let next: () => void = () => {};
  let descriptor: number;

  before(async () => {
    upstream = await startUpstream(async ({ json }, response) => {
      if (!(json as { stream?: boolean }).stream) return play(chatJson('Hello!'), response);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      for (let at = 0; at <= ROUNDS; at += 1) {
        response.write(`data: ${JSON.stringify(word(`word ${at}`))}\n\n`);
        await new Promise<void>((resolve) => (next = resolve));
      }
      await play(sse([word('', 'stop'), 'data: [DONE]\n\n']), response);
    });
    descriptor = openSync(devNull, 'w');
    const lines = new LogDestination(descriptor);
    const yaml = `
providers:
  sim: { uses: simulator }
  up: { uses: openai, api_key: sk-x, base_url: '${upstream.url}/v1' }
owners: { acme: { name: Acme } }
models:
  m:
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: up, model: m }]
    limits: { max_tokens: 4096, context: 128000 }
    price: { input_per_million: 0.15, output_per_million: 0.60 }
  clip:
    owner: acme
    capabilities: [video]
    upstreams: [{ provider: sim, model: clip }]
    price: { per_video_second: { 720p: 0.01, 1080p: 0.01, 4k: 0.01 } }
`;
    const clock = new SharedClock(Date.now());
    tollgate = await startGateway(yaml, { log: pino({ level: 'info' }, lines), lines, clock });
    inspector.connect();
    await inspector.post('Profiler.enable');
    await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  });

  after(async () => {
    await inspector.post('Profiler.stopPreciseCoverage');
    inspector.disconnect();
    await tollgate.close();
    await upstream.close();
    closeSync(descriptor);
  });

  const ask = (stream: boolean): Promise<Response> =>
    fetch(`${tollgate.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tollgate.secret}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream }),
    });

  /** The files of which functions ran since the last call of this function. */
  const entered = async (): Promise<string[]> => {
    const { result } = await inspector.post('Profiler.takePreciseCoverage');
    return result.filter(hasRun).flatMap(({ url }) => sourceOf(url) ?? []);
  };

  /** The files that each round enters. What runs by the clock is in some rounds only. */
  const enteredBy = async (round: () => Promise<void>): Promise<string[]> => {
    const rounds: string[][] = [];
    for (let at = 0; at < ROUNDS; at += 1) {
      await entered();
      await round();
      rounds.push(await entered());
    }
    const [first = [], ...others] = rounds;
    return first.filter((file) => others.every((files) => files.includes(file)));
  };

  it('by a chat call that is paid for are under 40', async () => {
    const call = async (): Promise<void> => void (await (await ask(false)).json());
    await call();
    const files = await enteredBy(call);
    expect(files).to.have.members(CHAT);
    expect(files.length).to.be.below(40);
    expect(CHARGE.length).to.be.above(0);
    expect(files).to.include.members(CHARGE);
  });

  it('by a packet of a stream are under 9', async () => {
    const reader = (await ask(true)).body?.getReader();
    await reader?.read();
    const files = await enteredBy(async () => {
      next();
      await reader?.read();
    });
    expect(files).to.have.members(PACKET);
    expect(files.length).to.be.below(9);
    next();
    await reader?.cancel();
  });

  it('by a video submission', async () => {
    const submit = async (): Promise<void> => {
      expect((await submitVideo(tollgate, 'clip')).status).to.equal(202);
    };
    await submit();
    expect(SUBMISSION.length).to.be.above(0);
    expect(await enteredBy(submit)).to.include.members(SUBMISSION);
  });
});
