import { expect } from 'chai';
import { request } from 'node:http';
import { startOpenaiGateway, type OpenaiGateway } from '../helpers/openai-gateway.js';
import { ask, chat, completionOf, errorOf, type Answer } from '../helpers/ask.js';

const LIMIT_BYTES = 2_000;

describe('the body of a request', () => {
  let acme: OpenaiGateway;

  /** A sound request whose body weighs exactly so many bytes. */
  const weighing = (bytes: number): string => {
    const [head, tail] = ['{"model":"acme-chat","messages":[{"role":"user","content":"', '"}]}'];
    return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
  };

  const post = (
    headers: Record<string, string>,
    body: string | Uint8Array<ArrayBuffer>,
  ): Promise<Answer> => ask(acme, '/v1/chat/completions', { method: 'POST', headers, body });

  before(async () => {
    acme = await startOpenaiGateway({ yaml: `limits: { body: ${LIMIT_BYTES}b }` });
  });
  after(() => acme.close());

  const sound = (): string => weighing(100);
  for (const type of [
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json ;a=b',
  ]) {
    it(`is read as ${type}`, async () => {
      completionOf(await post({ 'content-type': type }, sound()));
    });
  }

  for (const type of ['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded', '']) {
    it(`is refused as "${type}"`, async () => {
      const answer = await post({ 'content-type': type }, sound());
      expect(answer.status).to.equal(400);
      expect(errorOf(answer).message).to.include('Content-Type');
    });
  }

  it('is refused without a content type', async () => {
    const answer = await post({}, Buffer.from(sound()));
    expect(answer.status).to.equal(400);
    expect(errorOf(answer).message).to.include('Content-Type');
  });

  const unreadable = [
    '',
    '{',
    '{"model":"acme-chat",}',
    "{'model':'x'}",
    'undefined',
    '\u0000',
    '{}{}',
  ];
  for (const body of unreadable) {
    it(`is refused as ${JSON.stringify(body)}, which is not JSON`, async () => {
      const answer = await chat(acme, body);
      expect(answer.status).to.equal(400);
      expect(errorOf(answer)).to.include({ code: 'invalid_request', param: null });
      expect(errorOf(answer).message).to.include('JSON');
    });
  }

  for (const body of ['[]', 'null', '5', '"text"', 'true', '[{"model":"acme-chat"}]']) {
    it(`is refused as ${body}, which is not an object`, async () => {
      const answer = await chat(acme, body);
      expect(answer.status).to.equal(400);
      expect(errorOf(answer).message).to.equal('The body must be an object.');
    });
  }

  it('may weigh as much as the limit and no byte more', async () => {
    completionOf(await chat(acme, weighing(LIMIT_BYTES)));
    const answer = await chat(acme, weighing(LIMIT_BYTES + 1));
    expect(answer.status).to.equal(413);
    expect(errorOf(answer)).to.include({ code: 'body_too_large', type: 'invalid_request_error' });
    expect(errorOf(answer).message).to.include(String(LIMIT_BYTES));
  });

  it('is refused past the limit also when it does not say its length', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const call = request(`${acme.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${acme.secret}`, 'content-type': 'application/json' },
      });
      call.on('response', (response) => {
        resolve(response.statusCode);
        call.destroy();
      });
      call.on('error', reject);
      call.write(weighing(LIMIT_BYTES));
      call.write(weighing(LIMIT_BYTES));
    });
    expect(status).to.equal(413);
  });

  it('keeps text of every alphabet as it is', async () => {
    const content = '‘ünï’ 🌍 \u2028 日本 "\\" \u0007';
    await chat(acme, { model: 'acme-chat', messages: [{ role: 'user', content }] });
    expect(acme.sent().messages).to.deep.equal([{ role: 'user', content }]);
  });

  it('is refused where it is not UTF-8', async () => {
    const [head = '', tail = ''] = weighing(200).split('xx', 2);
    const body = Buffer.concat([Buffer.from(head), Buffer.from([0xc3, 0x28]), Buffer.from(tail)]);
    const answer = await post({ 'content-type': 'application/json' }, body);
    expect(answer.status).to.equal(400);
    expect(errorOf(answer).message).to.equal('The body is not valid UTF-8.');
  });

  it('cannot reach the prototype of anything', async () => {
    const body = '{"__proto__":{"model":"x"},"messages":[{"role":"user","content":"x"}]}';
    const answer = await chat(acme, body);
    expect(answer.status).to.equal(400);
    expect(errorOf(answer).param).to.equal('model');
  });
});
