import { expect } from 'chai';
import { parseDollars } from '../../src/lib/money.js';
import type { Answer } from '../helpers/ask.js';
import { chatJson, chatSse, play } from '../helpers/upstream.js';
import { until } from '../helpers/until.js';
import {
  closeAndAudit,
  HELLO,
  startScriptedGateway,
  type ScriptedGateway,
} from '../money/helpers/scripted-gateway.js';
import { gate } from '../money/helpers/disconnecting.js';
import { expectSame, refused, repeat } from '../money/helpers/idempotent-request.js';
import { onEachStore } from '../store/helpers/ground.js';

const OTHER = { ...HELLO, messages: [{ role: 'user', content: 'Bye' }] };
const MB = 1024 ** 2;

onEachStore('a request with an Idempotency-Key', (ground) => {
  let house: ScriptedGateway;
  let now_ms: number;
  let reply: (nth: number) => Parameters<typeof play>[0];
  const asked = (): number => house.upstream.requests.length;

  beforeEach(async () => {
    now_ms = Date.now();
    reply = (nth) => chatJson(`Hello ${nth}`);
    const store = JSON.stringify(ground.place.url);
    const settings = 'limits: { idempotency: 1h }';
    house = await startScriptedGateway(
      {
        up: ({ json }, response) => {
          const { stream } = json as { stream: boolean };
          return play(stream ? chatSse(['one']) : reply(asked()), response);
        },
      },
      { store, settings, credit: '0.001', now: () => now_ms },
    );
  });

  afterEach(async () => {
    try {
      await house.settled();
    } finally {
      await closeAndAudit(house);
    }
  });

  it('is answered as the first time, and charged and asked once', async () => {
    const first = await repeat(house, 'key 1');
    for (let time = 0; time < 3; time += 1) expectSame(await repeat(house, 'key 1'), first);
    expect(asked()).to.equal(1);
    expect(await house.charges()).to.have.length(1);
    const another = await repeat(house, 'key 2');
    expect(another.text).to.not.equal(first.text);
    expect(await house.charges()).to.have.length(2);
  });

  it('is replayed although the balance is spent by now', async () => {
    const first = await repeat(house, 'k');
    const { store } = house.gateway;
    await store.hold('all', house.account.id, parseDollars('0.00095'));
    expect(refused(await repeat(house, 'new'))).to.deep.equal([402, 'insufficient_balance']);
    expectSame(await repeat(house, 'k'), first);
    await store.release('all', house.account.id);
    expect((await repeat(house, 'new')).status, 'a refused one is forgotten').to.equal(200);
  });

  it('is refused where the key came before with another request', async () => {
    await repeat(house, 'k');
    expect(refused(await repeat(house, 'k', OTHER))).to.deep.equal([400, 'idempotency_key_reused']);
    expect(asked()).to.equal(1);
  });

  it('is made anew under another account that sends the same key', async () => {
    const { store } = house.gateway;
    const { id } = await store.createAccount('bob', parseDollars('1'));
    const { secret } = await store.createKey(id, 'test');
    const first = await repeat(house, 'k');
    const other = await repeat({ url: house.url, secret }, 'k', OTHER);
    expect(other.headers.get('idempotent-replayed')).to.equal(null);
    const key = await store.createKey(house.account.id, 'a second key of the same account');
    expectSame(await repeat({ url: house.url, secret: key.secret }, 'k'), first);
  });

  it('is refused while the first one is running, other requests as ever', async () => {
    const { promise: hold, open } = gate();
    reply = () => ({ ...chatJson('Hello'), hold });
    const first = repeat(house, 'k');
    await until(() => asked() === 1, 'the upstream is asked');
    const second = await repeat(house, 'k');
    expect(refused(second)).to.deep.equal([409, 'idempotency_key_running']);
    expect(second.headers.get('retry-after')).to.equal('1');
    expect(refused(await repeat(house, 'k', OTHER))).to.deep.equal([400, 'idempotency_key_reused']);
    open();
    const whole = await first;
    expectSame(await repeat(house, 'k'), whole);
  });

  it('is made and charged once where 200 come at once', async () => {
    const { promise: hold, open } = gate();
    reply = () => ({ ...chatJson('Hello'), hold });
    let refusals = 0;
    const calls = Array.from({ length: 200 }, async (): Promise<Answer> => {
      const answer = await repeat(house, 'k');
      if (answer.status === 409) refusals += 1;
      return answer;
    });
    await until(() => asked() + refusals === 200, 'all but one are refused');
    expect(asked()).to.equal(1);
    open();
    const [first] = (await Promise.all(calls)).filter(({ status }) => status === 200);
    if (!first) throw new Error('None was made.');
    expectSame(await repeat(house, 'k'), first);
    expect(await house.charges()).to.have.length(1);
  });

  it("is sent again after it failed, by the client's fault or the upstream's", async () => {
    reply = (nth) => (nth === 1 ? { status: 500 } : chatJson('Hello'));
    expect(refused(await repeat(house, 'k'))).to.deep.equal([502, 'upstream_error']);
    const first = await repeat(house, 'k');
    expectSame(await repeat(house, 'k'), first);
    expect(await house.charges()).to.have.length(1);
  });

  it('is completed after the client disconnects, and replayed to it', async () => {
    const { promise: hold, open } = gate();
    reply = () => ({ ...chatJson('Hello'), hold });
    const leaving = new AbortController();
    const gone = repeat(house, 'k', HELLO, { signal: leaving.signal }).catch(() => undefined);
    await until(() => asked() === 1, 'the upstream is asked');
    leaving.abort();
    await gone;
    // Whoever comes later is seen later, so that by then it is known that the first one has left.
    for (let turn = 0; turn < 3; turn += 1) {
      expect(refused(await repeat(house, 'k'))).to.deep.equal([409, 'idempotency_key_running']);
    }
    open();
    expect(await house.upstream.requests[0]?.closed).to.equal(true);
    await house.settled();
    const back = await repeat(house, 'k');
    expect(back.headers.get('idempotent-replayed')).to.equal('true');
    expect(back.text).to.include('"content":"Hello"');
    expect(await house.charges()).to.have.length(1);
  });

  it('is not made again where its answer was too large to be kept', async () => {
    reply = () =>
      chatJson('x'.repeat(8 * MB), { usage: { prompt_tokens: 9, completion_tokens: 5 } });
    expect((await repeat(house, 'k')).text.length).to.be.greaterThan(8 * MB);
    const again = await repeat(house, 'k');
    expect(refused(again)).to.deep.equal([409, 'idempotency_answer_gone']);
    expect(again.headers.get('x-should-retry')).to.equal('false');
    expect(asked()).to.equal(1);
    expect(await house.charges()).to.have.length(1);
  });

  it('is remembered for limits.idempotency', async () => {
    const first = await repeat(house, 'k');
    now_ms += 3_599_999;
    expectSame(await repeat(house, 'k'), first);
    now_ms += 1;
    const later = await repeat(house, 'k', OTHER);
    expect([later.status, later.headers.get('idempotent-replayed')]).to.deep.equal([200, null]);
  });

  it('is charged as without the header if it is streamed', async () => {
    const stream = { ...HELLO, stream: true };
    const [first, second] = [await repeat(house, 'k', stream), await repeat(house, 'k', stream)];
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect(second.headers.get('idempotent-replayed')).to.equal(null);
    expect(asked()).to.equal(2);
    expect((await repeat(house, 'k')).status).to.equal(200);
  });

  for (const [what, key, status] of [
    ['nothing', '', 400],
    ['one character', '~', 200],
    ['255 characters', 'k'.repeat(255), 200],
    ['256 characters', 'k'.repeat(256), 400],
    ['letters beyond ASCII', 'clé', 400],
    ['a tab', 'a\tb', 400],
  ] as const) {
    it(`has a key of ${what}: ${status}`, async () => {
      const answer = await repeat(house, key);
      expect(answer.status).to.equal(status);
      if (status === 400) expect(refused(answer)).to.deep.equal([400, 'invalid_request']);
    });
  }

  it('is refused where its body is nested too deep to be compared', async () => {
    const messages = JSON.stringify(HELLO.messages);
    const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
    const body = `{"model":"m","messages":${messages},"extra":${deep}}`;
    expect(refused(await repeat(house, 'k', {}, { body }))).to.deep.equal([400, 'invalid_request']);
  });
});
