import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { toyAnswer, toyFiles } from '../helpers/toy-adapter.js';
import { pollWithSignatures } from '../../src/upstream/signatures.js';
import type { PollClient } from '../../src/upstream/poll-client.js';
import { providerAt, type FakeUpstream } from '../helpers/upstream.js';
import { HELLO, onlyCharge, scriptedGateways } from '../money/helpers/scripted-gateway.js';

const SECRET = 'wJalrXUtnFEMI0123456789';
const SESSION = 'session-0123456789abcdef';
const NOW = Date.UTC(2026, 0, 2);
const KEYS = `region: us-east-1, access_key_id: AKIDEXAMPLE, secret_access_key: ${SECRET}`;
const ANSWER = toyAnswer([{ content: 'Hi' }], { prompt_tokens: 3, completion_tokens: 1 });
const AUTH = 'auth: { signer: ./toy.mjs }\nheaders: { X-House: tollgate }';

/** The signature of the toy signer, worked out from what came in. */
function signatureOf({ requests: [request], url }: FakeUpstream): string {
  const all = ['POST', url + request?.path, 'application/json', request?.body].join(' ');
  return createHash('sha256')
    .update(all + SECRET)
    .digest('hex');
}

describe('a provider whose requests are signed', () => {
  const open = scriptedGateways();
  const toy = { uses: './toy.yaml', files: toyFiles('', AUTH), now: () => NOW };

  it('gets the signature of its URL, headers, body and time', async () => {
    const provider = `${KEYS}, session_token: ${SESSION}`;
    const house = await open(ANSWER, { ...toy, provider, key: '' });
    expect((await house.post(HELLO)).status).to.equal(200);
    const { headers } = house.upstream.requests[0] ?? {};
    const expected = `TOY AKIDEXAMPLE us-east-1 ${NOW} ${signatureOf(house.upstream)}`;
    expect(headers).to.include({ authorization: expected, 'x-toy-token': SESSION });
    expect(headers).to.include({ 'x-house': 'tollgate' });
    await onlyCharge(house);
  });

  it('gets an API key as a bearer token, and no signature', async () => {
    const house = await open(ANSWER, { ...toy, provider: 'region: us-east-1' });
    expect((await house.post(HELLO)).status).to.equal(200);
    const { headers } = house.upstream.requests[0] ?? {};
    expect(headers?.authorization).to.match(/^Bearer sk-upstream-/u);
    expect(headers).not.to.have.property('x-toy-token');
    await onlyCharge(house);
  });

  it('shows none of its keys where the upstream repeats them in its error', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const said = `SignatureDoesNotMatch: AKIDEXAMPLE ${SECRET} x-amz-security-token:${SESSION}`;
    const error = { status: 400, body: JSON.stringify({ message: said }) };
    const provider = `${KEYS}, session_token: ${SESSION}`;
    const house = await open(error, { ...toy, provider, key: '', log });
    const answer = await (await house.post(HELLO)).text();
    expect(answer).to.contain('SignatureDoesNotMatch: *** *** x-amz-security-token:***');
    for (const secret of [SECRET, SESSION, 'AKIDEXAMPLE']) {
      expect(lines.join('')).not.to.contain(secret);
    }
  });

  it('is 502, with the reason and without the key in the log, where signing fails', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const failing =
      "export const sign = async (_, k) => { throw new Error('bad ' + k.secret_access_key); };";
    const files = { ...toyFiles('', 'auth: { signer: ./failing.mjs }'), 'failing.mjs': failing };
    const house = await open(ANSWER, { ...toy, files, provider: KEYS, key: '', log });
    const answer = await house.post(HELLO);
    expect(answer.status).to.equal(502);
    expect(await answer.text())
      .to.contain('could not sign')
      .and.not.to.contain('bad');
    expect(house.upstream.requests).to.have.length(0);
    expect(lines.join('')).to.contain('bad ***').and.not.to.contain(SECRET);
  });

  it('asks a provider within the process, which has no address, for its tasks', async () => {
    const asked: string[] = [];
    const polls: PollClient = {
      ask: (_, { path }) => {
        asked.push(path);
        return Promise.resolve({ status: 200, headers: {}, text: '{}' });
      },
      close: () => undefined,
    };
    const provider = providerAt('');
    const request = { method: 'GET' as const, path: '/jobs/1', headers: {}, body: undefined };
    await pollWithSignatures(polls, () => NOW).ask(provider, request, 1_024);
    expect(asked).to.deep.equal(['/jobs/1']);
  });
});
