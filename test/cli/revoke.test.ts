import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { makePlace, type Place } from '../helpers/cli.js';
import { until } from '../helpers/until.js';
import { chatJson, play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { onEachStore } from '../store/helpers/ground.js';

const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello!' }] });
/** Calls at the upstream, with half a body, and on their way, when the key is revoked. */
const [AT_UPSTREAM, HALF_SENT, ON_THEIR_WAY] = [200, 200, 100];

interface Call {
  answer: Promise<{ status: number; body: string }>;
  /** Sends the rest of the body. */
  end: () => void;
}

/** A chat call that has sent its headers and so much of its body. */
function begin(url: string, secret: string, sent: number): Call {
  const request = httpRequest(`${url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'content-length': BODY.length,
    },
  });
  request.write(BODY.slice(0, sent));
  const answer = once(request, 'response').then(async ([response]) => ({
    status: (response as { statusCode: number }).statusCode,
    body: await text(response as NodeJS.ReadableStream),
  }));
  return { answer, end: () => void request.end(BODY.slice(sent)) };
}

function call(url: string, secret: string): Call['answer'] {
  const { answer, end } = begin(url, secret, 0);
  end();
  return answer;
}

onEachStore('a key that is revoked with 500 calls in flight, in two processes', (ground) => {
  let upstream: FakeUpstream;
  let place: Place;
  let letGo = (): void => undefined;

  beforeEach(async () => {
    const hold = new Promise<void>((resolve) => (letGo = resolve));
    upstream = await startUpstream((_received, response) =>
      play({ ...chatJson('Hello'), hold }, response),
    );
    place = await makePlace(`listen: 127.0.0.1:0
store: ${JSON.stringify(ground.place.url)}
public_url: http://gate.example.com
owners: { acme: { name: OpenaiGateway } }
providers: { up: { uses: openai, base_url: '${upstream.url}', api_key: sk-up } }
models:
  m: { owner: acme, capabilities: [chat], upstreams: [{ provider: up }], limits: { max_tokens: 9 }, price: { input_per_million: 1, output_per_million: 1 } }
`);
  });
  afterEach(async () => {
    letGo();
    await place.close();
    await upstream.close();
  });

  async function openHolds(): Promise<number> {
    const [row] = await ground.place.sql('select count(*) as rows from holds');
    return Number(row?.rows);
  }

  /** The cookie of somebody who is signed in to the account. */
  async function signIn(url: string, account: string): Promise<string> {
    const link = await place.json<{ url: string }>('sign-in-link', account);
    const { pathname, search } = new URL(link.url);
    const response = await fetch(`${url}${pathname}${search}`, { redirect: 'manual' });
    return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  }

  it('admits nothing from the moment that the DELETE answers', async () => {
    const urls = [await place.begin('serve').url(), await place.start('serve').url()];
    const at = (index: number): string => urls[index % urls.length] ?? '';
    await place.json('account', 'create', 'ann', '--credit', '10');
    const { id, secret } = await place.json<{ id: string; secret: string }>(
      'key',
      'create',
      'ann',
      '--name',
      'laptop',
    );
    const cookie = await signIn(at(0), 'ann');

    const held = Array.from({ length: AT_UPSTREAM }, (_, index) => call(at(index), secret));
    await until(() => upstream.requests.length === AT_UPSTREAM, 'all are upstream');
    const half = Array.from({ length: HALF_SENT }, (_, index) => begin(at(index), secret, 9));
    // Whoever asks after them is answered after they were let in.
    for (const url of urls) {
      const headers = { authorization: `Bearer ${secret}` };
      expect((await fetch(`${url}/v1/models`, { headers })).status).to.equal(200);
    }
    const hurried = Array.from({ length: ON_THEIR_WAY }, (_, index) => call(at(index), secret));
    const headers = { cookie, origin: 'http://gate.example.com' };
    const deleted = await fetch(`${at(0)}/api/keys/${id}`, { method: 'DELETE', headers });
    expect(deleted.status).to.equal(204);
    const admitted = await openHolds();

    for (const { end } of half) end();
    const late = Array.from({ length: 20 }, (_, index) => call(at(index), secret));
    for (const { answer } of half) expect((await answer).status).to.equal(401);
    for (const answer of late) expect((await answer).status).to.equal(401);
    expect(await openHolds()).to.equal(admitted);

    await until(() => upstream.requests.length === admitted, 'those admitted are upstream');
    letGo();
    const answers = await Promise.all([...held, ...hurried]);
    expect(answers.filter(({ status }) => status === 200)).to.have.length(admitted);
    const refused = answers.filter(({ status }) => status !== 200);
    for (const { status, body } of refused) {
      expect(status).to.equal(401);
      expect(body).to.include('"invalid_api_key"');
    }
    expect(upstream.requests).to.have.length(admitted);
    expect(await place.json('verify')).to.deep.include({ faults: [], open_holds: 0 });
    const entries = await place.json<{ kind: string }[]>('ledger', 'ann');
    expect(entries.filter(({ kind }) => kind === 'charge')).to.have.length(admitted);
  });
});
