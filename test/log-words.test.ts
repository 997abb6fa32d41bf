import { expect } from 'chai';
import { pino } from 'pino';
import { GatewayError } from '../src/core/errors.js';
import { plainError } from '../src/telemetry/plain-error.js';
import { ProviderHealth } from '../src/telemetry/provider-health.js';
import { ask } from './helpers/ask.js';
import { startGateway } from './helpers/gateway.js';
import { startUpstream } from './helpers/upstream.js';
import { UpstreamError } from '../src/core/upstream-error.js';

const PROMPT = 'My dearest aunt has a secret.\n    at home (it.ts:1:1)';

describe('the log of an upstream error that repeats the prompt', () => {
  it('stays out of the log where a fault of its own holds it, and of the report', () => {
    const fault = new UpstreamError('broken', `No image. ${PROMPT}`, undefined, {
      isQuoted: true,
    });
    const shown = new GatewayError('upstream_error', fault.message, { cause: fault });
    expect(JSON.stringify([plainError(fault), plainError(shown)])).not.to.match(/aunt|it\.ts/u);
    const outcomes = new ProviderHealth(() => 1);
    outcomes.failed('up', fault);
    expect(outcomes.report().up?.last_failure?.message).to.equal('The upstream failed.');
  });

  const statuses = [400, 422, 401, 404, 429, 500, 503];
  for (const status of statuses) {
    for (const inside of [false, true]) {
      it(`stays out of the log: ${status}${inside ? ' inside a 200' : ''}`, async () => {
        let written = '';
        const sink = { write: (line: string) => (written += line) };
        const log = pino({ serializers: { err: plainError } }, sink);
        const error = { message: `Bad: ${PROMPT}`, type: `bad ${PROMPT}`, code: status };
        const body = JSON.stringify({ error, detail: PROMPT });
        const headers = { 'content-type': 'application/json' };
        const upstream = await startUpstream({ status: inside ? 200 : status, headers, body });
        const gateway = await startGateway(
          `owners: { a: { name: A } }
providers: { up: { uses: openai, base_url: '${upstream.url}', api_key: sk-acme-secret } }
models: { m: { owner: a, capabilities: [chat], upstreams: [{ provider: up }], price: free } }
`,
          { log },
        );
        try {
          const answer = await ask(gateway, '/v1/chat/completions', {
            method: 'POST',
            headers,
            body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: PROMPT }] }),
          });
          expect(answer.status).to.be.oneOf([400, 502]);
          expect(written).to.include('an upstream failed').and.include(String(status));
          expect(written).not.to.match(/aunt|secret|it\.ts/u);
        } finally {
          await gateway.close();
          await upstream.close();
        }
      });
    }
  }
});
