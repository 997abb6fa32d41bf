import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { startUpstream, type FakeUpstream, type Handler } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import {
  isInstalled,
  prepareCaddy,
  prepareNginx,
  run,
  startCaddy,
  startNginx,
  type WebProxy,
} from './helpers/web-proxy.js';

const YAML = (url: string): string => `trusted_proxies: [127.0.0.1]
owners: { acme: { name: Acme } }
providers: { up: { uses: openai, base_url: '${url}', api_key: sk-up } }
models:
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: up }], price: { input_per_million: 1, output_per_million: 1 } }
limits: { failed_keys: 2 }
`;
const WORDS = ['one', 'two', 'three', 'four', 'five'];
const CALL = { method: 'POST', path: '/v1/chat/completions' };

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'talk',
    choices: [{ index: 0, delta, finish_reason }],
    ...(finish_reason && { usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 } }),
  })}\n\n`;

/** Sends a word only when the client has seen the one before it. */
function slowWords(seen: () => number): Handler {
  return async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [at, word] of WORDS.entries()) {
      await until(() => seen() >= at, `the client saw ${at} words`);
      response.write(chunk({ role: 'assistant', content: word }));
    }
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of answer.setEncoding('utf8')) text += part as string;
  return text;
}

const portOf = ({ url }: { url: string }): number => Number(new URL(url).port);

const PROXIES: [string, string, (port: number) => Promise<WebProxy>][] = [
  ['nginx', 'nginx.conf', startNginx],
  ['caddy', 'Caddyfile', (port) => startCaddy(`127.0.0.1:${port}`)],
];

for (const [program, file, start] of PROXIES) {
  describe(`deploy/${file}, with a real ${program}`, function () {
    let upstream: FakeUpstream;
    let gateway: TestGateway;
    let proxy: WebProxy | undefined;
    let seen = 0;

    before(async function () {
      if (!isInstalled(program)) this.skip();
      upstream = await startUpstream(slowWords(() => seen));
      gateway = await startGateway(YAML(upstream.url));
      proxy = await start(portOf(gateway));
    });
    after(async () => {
      await proxy?.close();
      await gateway?.close();
      await upstream?.close();
    });

    const call = async (secret: string, headers: Record<string, string> = {}, stream = true) => {
      const body = { model: 'talk', stream, messages: [{ role: 'user', content: 'Hello!' }] };
      if (!proxy) throw new Error('There is no proxy.');
      const json = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
      return proxy.send({ ...CALL, headers: { ...json, ...headers } }, JSON.stringify(body));
    };

    it('passes each event of a stream on at once', async () => {
      const answer = await call(gateway.secret);
      expect(answer.statusCode).to.equal(200);
      let text = '';
      for await (const part of answer.setEncoding('utf8')) {
        text += part as string;
        seen = WORDS.filter((word) => text.includes(`"${word}"`)).length;
      }
      expect(seen).to.equal(WORDS.length);
      expect(text.endsWith('data: [DONE]\n\n')).to.equal(true);
      const [, charge] = await gateway.gateway.store.ledger(gateway.account.id, { limit: 9 });
      expect(charge).to.include({ kind: 'charge', amount_nano: -8_000n });
    });

    it('passes a WebSocket on, both ways and at once', async () => {
      if (!proxy) throw new Error('There is no proxy.');
      seen = 0;
      const socket = proxy.socket('/v1/responses', { authorization: `Bearer ${gateway.secret}` });
      const types: string[] = [];
      socket.on('message', (data: Buffer) => {
        const { type } = JSON.parse(data.toString('utf8')) as { type: string };
        if (type === 'response.output_text.delta') seen += 1;
        types.push(type);
      });
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'response.create', model: 'talk', input: 'Hello!' }));
      await until(() => types.includes('response.completed'), 'the turn has ended');
      expect(seen).to.equal(WORDS.length);
      socket.close();
    });

    it('tells the gateway who calls, so that wrong keys are counted by address', async () => {
      const answers: (number | undefined)[] = [];
      for (let time = 0; time < 3; time++) {
        const answer = await call('tg-wrong');
        answers.push(answer.statusCode);
        await textOf(answer);
      }
      expect(answers).to.deep.equal([401, 401, 429]);
    });

    it('sends no call twice where the connection breaks', async () => {
      let calls = 0;
      const broken = await startUpstream(({ path }, response) => {
        if (path === '/readyz') return void response.end('{}');
        calls += 1;
        response.destroy();
      });
      const other = await start(portOf(broken));
      const answer = await other.send(CALL, '{}');
      expect(answer.statusCode).to.equal(502);
      expect(calls).to.equal(1);
      await other.close();
      await broken.close();
    });
  });
}

describe('deploy/nginx.conf', () => {
  it('is valid to nginx', async function () {
    if (!isInstalled('nginx')) this.skip();
    const { folder, args } = await prepareNginx(8080);
    const { status, output } = run('nginx', ['-t', ...args]);
    rmSync(folder, { recursive: true });
    expect(status, output).to.equal(0);
    expect(output).to.include('test is successful').and.not.include('[warn]');
  });
});

describe('deploy/Caddyfile', () => {
  it('is valid to Caddy, for one gateway and for the two of compose.postgres.yaml', async function () {
    if (!isInstalled('caddy')) this.skip();
    for (const upstreams of ['127.0.0.1:8080', 'gateway-1:8080 gateway-2:8080']) {
      const { folder, args, env } = await prepareCaddy(upstreams);
      const { status, output } = run('caddy', ['validate', ...args], env);
      rmSync(folder, { recursive: true });
      expect(status, output).to.equal(0);
      expect(output).to.include('Valid configuration');
    }
  });

  it('gives no new call to a gateway that is not ready', async function () {
    if (!isInstalled('caddy')) this.skip();
    let isReady = true;
    const counts = [0, 0];
    const servers = await Promise.all(
      counts.map((_, at) =>
        startUpstream(({ path }, response) => {
          if (path !== '/readyz') counts[at] = (counts[at] ?? 0) + 1;
          response.writeHead(path === '/readyz' && at === 0 && !isReady ? 503 : 200).end('{}');
        }),
      ),
    );
    const addresses = servers.map((server) => `127.0.0.1:${portOf(server)}`);
    const proxy = await startCaddy(addresses.join(' '));
    const both = async (): Promise<boolean> => {
      await textOf(await proxy.send(CALL, '{}'));
      return counts.every((count) => count > 0);
    };
    await until(both, 'both take calls');
    isReady = false;
    await until(
      async () => {
        const [before] = counts;
        for (let time = 0; time < 10; time++) await textOf(await proxy.send(CALL, '{}'));
        return counts[0] === before;
      },
      'ten calls in a row go to the other',
      20_000,
    );
    await proxy.close();
    for (const server of servers) await server.close();
  });
});
