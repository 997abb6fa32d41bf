import { expect } from 'chai';
import { chatJson, type Step } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import {
  HELLO,
  HELLO_MAX_NANO,
  scriptedGateways,
  UPSTREAM_KEY,
  type ScriptedGateway,
} from './helpers/scripted-gateway.js';

interface Refusal {
  error: { message: string; type: string; code: string; param: string | null };
}

const SECRETS = new RegExp(`${UPSTREAM_KEY}|org-77|internal-host`, 'u');

function refusing(status: number, message: string, headers: Record<string, string> = {}): Step {
  const body = JSON.stringify({ error: { message, type: 'some_error', code: null } });
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

/** The answer to one call, of which nothing may be charged and no secret shown. */
async function refused(
  gateway: ScriptedGateway,
  body: object = HELLO,
): Promise<[Response, Refusal['error']]> {
  const response = await gateway.post(body);
  const text = await response.text();
  expect(text).to.not.match(SECRETS);
  expect([...response.headers.values()].join('\n')).to.not.match(SECRETS);
  await gateway.settled();
  expect(await gateway.charges()).to.deep.equal([]);
  const { error } = JSON.parse(text) as Refusal;
  expect(error).to.have.all.keys('message', 'type', 'code', 'param');
  return [response, error];
}

describe('a refusal by the upstream', () => {
  const open = scriptedGateways();
  const bodies = { 'a JSON answer': HELLO, 'a stream': { ...HELLO, stream: true } };

  for (const [kind, body] of Object.entries(bodies)) {
    for (const status of [400, 413, 422]) {
      it(`reaches a client that asked for ${kind} when it is ${status}`, async () => {
        const gateway = await open(refusing(status, 'logit_bias goes from -100 to 100'));
        const [response, error] = await refused(gateway, body);
        expect(response.status).to.equal(400);
        expect(error).to.include({ code: 'invalid_request', type: 'invalid_request_error' });
        expect(error.message).to.include('logit_bias goes from -100 to 100');
      });
    }

    for (const status of [401, 402, 403, 404, 408, 409, 429, 451, 500, 502, 503, 529]) {
      it(`is a 502 in the gateway's words for ${kind} when it is ${status}`, async () => {
        const words = `Incorrect key ${UPSTREAM_KEY} of org-77 at internal-host`;
        const gateway = await open(refusing(status, words, { 'retry-after': '17' }));
        const [response, error] = await refused(gateway, body);
        expect(response.status).to.equal(502);
        expect(response.headers.get('retry-after')).to.equal('17');
        expect(error).to.include({ code: 'upstream_error', type: 'upstream_error', param: null });
        expect(error.message).to.not.be.empty.and.not.include('Incorrect');
      });
    }
  }

  const ODD: [string, Step][] = [
    ['HTML', { headers: { 'content-type': 'text/html' }, body: '<h1>internal-host</h1>' }],
    ['HTML with 500', { status: 500, body: '<h1>internal-host</h1>' }],
    ['an empty 200', { headers: { 'content-type': 'application/json' }, body: '' }],
    ['a 204', { status: 204 }],
    ['a redirect', { status: 307, headers: { location: 'http://internal-host/' } }],
    ['a permanent redirect', { status: 301, headers: { location: 'http://internal-host/' } }],
  ];
  for (const [name, step] of ODD) {
    for (const [kind, body] of Object.entries(bodies)) {
      it(`is a 502 when ${name} answers the call for ${kind}`, async () => {
        const gateway = await open(step);
        const [response] = await refused(gateway, body);
        expect(response.status).to.equal(502);
        expect(gateway.upstream.requests).to.have.length(1);
      });
    }
  }

  it('never shows the key that the upstream repeats in a 400', async () => {
    const gateway = await open(refusing(400, `bad field; you are ${UPSTREAM_KEY}`));
    const [response, error] = await refused(gateway);
    expect(response.status).to.equal(400);
    expect(error.message).to.include('bad field');
  });
});

describe('a 402 for a missing balance', () => {
  const open = scriptedGateways();
  /** Dollars for so many calls of `HELLO` at once. */
  const credit = (calls: number): string =>
    `0.${String(HELLO_MAX_NANO * BigInt(calls)).padStart(9, '0')}`;

  it('states the balance and the max cost, and that waiting does not help', async () => {
    const gateway = await open(chatJson('Hello'), { credit: '0.00001' });
    const [response, error] = await refused(gateway);
    expect(response.status).to.equal(402);
    expect(error).to.include({ code: 'insufficient_balance', type: 'insufficient_balance_error' });
    expect(error.message).to.include('up to $0.00007275');
    expect(error.message).to.include('balance is $0.00001, of which $0.00 is held');
    expect(error.message).to.match(/Waiting does not help/u);
    expect(gateway.upstream.requests).to.deep.equal([]);
  });

  it('says that waiting may help while other calls hold the balance', async () => {
    let goOn = (): void => undefined;
    const hold = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const gateway = await open({ ...chatJson('Hello'), hold }, { credit: credit(1) });
    const first = gateway.post(HELLO);
    await until(() => gateway.upstream.requests.length === 1, 'the first call is under way');
    const second = await gateway.post(HELLO);
    const { error } = (await second.json()) as Refusal;
    expect(second.status).to.equal(402);
    expect(error.message).to.include('balance is $0.00007275, of which $0.00007275 is held');
    expect(error.message).to.match(/waiting for them to end may help/u);
    goOn();
    expect((await first).status).to.equal(200);
  });

  it('comes for one nano-dollar less than the max cost, and not for the max cost', async () => {
    const short = (HELLO_MAX_NANO - 1n).toString().padStart(9, '0');
    const poor = await open(chatJson('Hello'), { credit: `0.${short}` });
    const rich = await open(chatJson('Hello'), { credit: credit(1) });
    expect((await poor.post(HELLO)).status).to.equal(402);
    expect((await rich.post(HELLO)).status).to.equal(200);
  });

  it('comes after 401 and 400', async () => {
    const gateway = await open(chatJson('Hello'), { credit: '0' });
    const nameless = await gateway.post(HELLO, { headers: { 'content-type': 'application/json' } });
    expect(nameless.status).to.equal(401);
    expect((await gateway.post({ ...HELLO, messages: [] })).status).to.equal(400);
    expect((await gateway.post({ ...HELLO, model: 'other' })).status).to.equal(400);
    expect((await gateway.post(HELLO)).status).to.equal(402);
  });
});
