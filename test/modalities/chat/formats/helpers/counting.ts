import { expect } from 'chai';
import { ask, type Answer } from '../../../../helpers/ask.js';
import type { OpenaiGateway } from '../../../../helpers/openai-gateway.js';

/** A model that may answer with fewer tokens than the tests ask for. */
export const LIMITED_MODEL = `
  acme-limited: { owner: acme, capabilities: [chat], upstreams: [{ provider: acme }], price: *paid, limits: { max_tokens: 10 } }`;

/** Calls an endpoint that counts the tokens of a prompt. */
export interface TokenCounter {
  post: (body: object, headers?: Record<string, string>, path?: string) => Promise<Answer>;
  count: (body: object) => Promise<number>;
}

/** `rest` is what an answer says beside the number. */
export function tokenCounter(
  acme: () => OpenaiGateway,
  counting_path: string,
  rest: object = {},
): TokenCounter {
  const post: TokenCounter['post'] = (body, headers = {}, path = counting_path) =>
    ask(acme(), path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const count = async (body: object): Promise<number> => {
    const { status, text } = await post(body);
    expect(status, text).to.equal(200);
    const counted = JSON.parse(text) as { input_tokens: number };
    const { input_tokens } = counted;
    expect(counted).to.deep.equal({ ...rest, input_tokens });
    return input_tokens;
  };
  return { post, count };
}

/** Tests what holds of each such endpoint. */
export function itCountsForFree(
  acme: () => OpenaiGateway,
  { post, count }: TokenCounter,
  hello: object,
  long_answer: object,
): void {
  it('asks no upstream, holds nothing and charges nothing', async () => {
    const { account, gateway, upstream, poor } = acme();
    const before = await gateway.store.account(account.id);
    await count(hello);
    expect(upstream.requests).to.have.length(0);
    expect(await gateway.store.account(account.id)).to.deep.equal(before);
    expect((await post(hello, { authorization: `Bearer ${poor}` })).status).to.equal(200);
  });

  it('counts a prompt whatever its answer may have', async () => {
    const asked = { ...hello, ...long_answer, model: 'acme-limited' };
    expect(await count(asked)).to.equal(await count(hello));
  });
}
