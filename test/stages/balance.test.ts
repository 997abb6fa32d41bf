import { expect } from 'chai';
import { startAcme, type Acme } from '../helpers/acme.js';
import { ask, chat, completionOf, errorOf, type Answer } from '../helpers/ask.js';

const messages = [{ role: 'user', content: 'Hello!' }];

describe('balance', () => {
  let acme: Acme;

  const gated = (secret: string, body: object | string): Promise<Answer> =>
    ask({ ...acme, secret }, '/v1/gated', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  before(async () => {
    acme = await startAcme(
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

  it('says that waiting may help when other requests hold the money', async () => {
    const { store } = acme.gateway;
    await store.hold('another-request', acme.account.id, 9_000_000n);
    const answer = await chat(acme, { model: 'acme-chat', messages });
    expect(answer.status).to.equal(402);
    expect(errorOf(answer).message).to.match(/\$0\.009 is held\. .*waiting .* may help/u);
    await store.release('another-request', acme.account.id);
    completionOf(await chat(acme, { model: 'acme-chat', messages }));
  });

  it('leaves nothing held, whatever becomes of a request', async () => {
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

  it('as a gate lets any money pass, and holds nothing itself', async () => {
    completionOf(await gated(acme.secret, { model: 'acme-chat', messages }));
    expect((await gated(acme.secret, '{')).status).to.equal(400);
    const account = await acme.gateway.store.account(acme.account.id);
    expect(account?.held_nano).to.equal(0n);
  });
});
