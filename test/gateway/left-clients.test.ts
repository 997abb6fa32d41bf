import { expect } from 'chai';
import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { chat } from '../helpers/ask.js';
import { startGateway } from '../helpers/gateway.js';
import { until } from '../helpers/until.js';

const YAML = `owners: { acme: { name: Acme } }
providers: { simulator: { settings: { tokens_per_second: 100000 } } }
models:
  talk: { owner: acme, capabilities: [chat], upstreams: [{ provider: simulator }], price: { input_per_million: 1, output_per_million: 2 } }
`;

interface Line {
  level: number;
  msg: string;
  status?: number;
}

describe('a client that leaves within its own body', () => {
  it('is a line of the access log, and no error with a stack', async () => {
    const lines: Line[] = [];
    const log = pino({}, { write: (text: string) => lines.push(JSON.parse(text) as Line) });
    const gateway = await startGateway(YAML, { log });
    const { hostname, port } = new URL(gateway.url);
    for (const [length, body] of [
      [500, '{"model":'],
      [500_000, `{"model":"${'x'.repeat(100_000)}`],
    ] as const) {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.secret}\r\n` +
          `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`,
      );
      const before = lines.length;
      // The key is looked up by then, and the body is waited for.
      await chat(gateway, { model: 'talk', messages: [{ role: 'user', content: 'Hello' }] });
      socket.destroy();
      const left = (): boolean => lines.slice(before).some(({ status }) => status === 499);
      await until(left, 'the client has left');
    }
    await gateway.close();
    expect(lines.filter(({ level }) => level >= 50)).to.deep.equal([]);
  });
});
