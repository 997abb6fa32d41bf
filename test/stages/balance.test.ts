import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { chargeOf } from '../store/helpers/ground.js';
import { ask, chat, completionOf, errorOf, type Answer } from '../helpers/ask.js';

const messages = [{ role: 'user', content: 'Hello!' }];

/** A request whose body is whole only when `meanwhile` is done. */
function slowly(body: object, meanwhile: () => Promise<void>): RequestInit & { duplex: 'half' } {
  const text = JSON.stringify(body);
  const bytes = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(text.slice(0, 9))),
    pull: async (controller) => {
      await meanwhile();
      controller.enqueue(Buffer.from(text.slice(9)));
      controller.close();
    },
  });
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', headers, body: bytes, duplex: 'half' };
}

describe('the stage balance', () => {
  let acme: OpenaiGateway;

  const gated = (secret: string, body: object | string): Promise<Answer> =>
    ask({ ...acme, secret }, '/v1/gated', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  before(async () => {
    acme = await startOpenaiGateway(
      {
        yaml: `endpoints:
  chat: { at: "POST /v1/chat/completions", stages: [auth, validate: chat-completion, route: { capability: chat }, balance, transform: chat, meter] }
  gated: { at: "POST /v1/gated", stages: [auth, balance: gate, validate: chat-completion, route: { capability: chat }, balance, transform: chat, meter] }
`,
      },
      { credit: '0.01' },
    );
  });
  after(() => acme.close());

  it('explains a 402 with the figures, and that waiting does not help', async () => {
    const answer = await chat(acme, { model: 'acme-chat', messages, max_tokens: 1_000_000 });
    expect(answer.status).to.equal(402);
    const { message, type, code } = errorOf(answer);
    expect({ type, code }).to.deep.equal({
      type: 'insufficient_balance_error',
      code: 'insufficient_balance',
    });
    expect(message).to.match(
      /up to \$2\.000\d+, .* \$0\.01, of which \$0\.00 is held\. Waiting does not/u,
    );
  });

  it('names no cost of $0.000000001 to an empty account that it refuses unread', async () => {
    const answer = await gated(acme.poor, { model: 'acme-chat', messages });
    expect(answer.status).to.equal(402);
    expect(errorOf(answer).message).to.equal(
      'The balance is $0.00, of which $0.00 is held, so nothing is available. ' +
        'Waiting does not help: the account needs credit.',
    );
  });

  it('answers 402 with a hint to wait while other requests hold the money', async () => {
    const { store } = acme.gateway;
    await store.hold('another-request', acme.account.id, 9_000_000n);
    const answer = await chat(acme, { model: 'acme-chat', messages });
    expect(answer.status).to.equal(402);
    expect(errorOf(answer).message).to.match(/\$0\.009 is held\. .*waiting .* may help/u);
    await store.release('another-request', acme.account.id);
    completionOf(await chat(acme, { model: 'acme-chat', messages }));
  });

  it('explains a 402 of a key that has reached its limit, with its figures', async () => {
    const { store } = acme.gateway;
    const { id } = acme.account;
    const { key, secret } = await store.createKey(id, 'pocket', { limit_nano: 900_000n });
    const pocket = { ...acme, secret };
    await store.hold('pocket-1', id, 500_000n, key.id);
    const waiting = await chat(pocket, { model: 'acme-chat', messages, max_tokens: 300 });
    expect(waiting.status).to.equal(402);
    expect(errorOf(waiting)).to.include({
      type: 'insufficient_balance_error',
      code: 'key_limit_reached',
    });
    expect(errorOf(waiting).message).to.match(
      /of the \$0\.0009 that this .* \$0\.00 is spent and \$0\.0005 is held\. .*may help/u,
    );
    await store.release('pocket-1', id);
    completionOf(await chat(pocket, { model: 'acme-chat', messages, max_tokens: 300 }));
    const never = await chat(pocket, { model: 'acme-chat', messages, max_tokens: 3_000 });
    expect(errorOf(never).message).to.match(/Waiting does not help: another key/u);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  it('explains a 402 of a full allowance: its window, and when it returns', async () => {
    const { store } = acme.gateway;
    const { id } = acme.account;
    const terms = { allowances: { '2d': 900_000n } } as const;
    const { key, secret } = await store.createKey(id, 'agent', terms);
    const agent = { ...acme, secret };
    const call = (max_tokens: number): Promise<Answer> =>
      chat(agent, { model: 'acme-chat', messages, max_tokens });
    await store.hold('agent-1', id, 500_000n, key.id);
    const waiting = await call(300);
    expect(waiting.status).to.equal(402);
    expect(errorOf(waiting)).to.include({
      type: 'insufficient_balance_error',
      code: 'allowance_reached',
    });
    expect(errorOf(waiting).message).to.match(
      /of the \$0\.0009 that this API key may spend in 2d \$0\.00 is spent and \$0\.0005 is held\. In-flight requests hold the rest: .* The allowance returns at \d{4}-\d\d-\d\dT.*Z\./u,
    );
    expect(Number(waiting.headers.get('retry-after'))).to.be.within(172_700, 172_800);
    await store.charge(chargeOf('agent-1', id, 500_000n, { key_id: key.id }));
    const spent = await call(300);
    expect(errorOf(spent).message).to.match(
      /is spent and \$0\.00 is held\. The allowance returns/u,
    );
    expect(spent.headers.get('retry-after')).to.match(/^\d+$/u);
    const never = await call(3_000);
    expect(errorOf(never).message).to.match(/Waiting does not help: the request costs more/u);
    expect(never.headers.get('retry-after')).to.equal(null);
    expect((await store.verify()).faults).to.deep.equal([]);
  });

  for (const model of ['acme-chat', 'acme-free']) {
    it(`refuses ${model} to a key that was revoked after it was let in`, async () => {
      const { store } = acme.gateway;
      const { key, secret } = await store.createKey(acme.account.id, 'brief');
      const wasUsed = async (): Promise<boolean> =>
        (await store.keys(acme.account.id)).some(
          ({ id, last_used_ms }) => id === key.id && last_used_ms !== null,
        );
      const upload = slowly({ model, messages }, async () => {
        while (!(await wasUsed())) await nextTurn();
        await store.revokeKey(key.id);
      });
      const asked = acme.upstream.requests.length;
      const answer = await ask({ ...acme, secret }, '/v1/chat/completions', upload);
      expect(answer.status).to.equal(401);
      expect(errorOf(answer)).to.include({ code: 'invalid_api_key' });
      expect(acme.upstream.requests).to.have.length(asked);
    });
  }

  it('leaves no hold after any outcome of a request', async () => {
    await chat(acme, { model: 'acme-chat', messages });
    await chat(acme, { model: 'acme-chat', messages, stream: true });
    await chat(acme, { model: 'acme-broken', messages });
    await chat(acme, { model: 'acme-chat', messages, max_tokens: 1_000_000 });
    const account = await acme.gateway.store.account(acme.account.id);
    expect(account?.held_nano).to.equal(0n);
  });

  it('as a gate refuses an empty account before its body is read', async () => {
    const answer = await gated(acme.poor, '{');
    expect(answer.status).to.equal(402);
    expect(errorOf(answer).code).to.equal('insufficient_balance');
  });

  it('as a gate admits any available balance, and holds nothing', async () => {
    completionOf(await gated(acme.secret, { model: 'acme-chat', messages }));
    expect((await gated(acme.secret, '{')).status).to.equal(400);
    const account = await acme.gateway.store.account(acme.account.id);
    expect(account?.held_nano).to.equal(0n);
  });
});
