import { expect } from 'chai';
import { errorOf, type Answer } from '../../helpers/ask.js';
import { HELLO, type ScriptedGateway } from './scripted-gateway.js';

/** Sends a request under an `Idempotency-Key`. */
export async function repeat(
  { url, secret }: Pick<ScriptedGateway, 'url' | 'secret'>,
  key: string,
  body: object = HELLO,
  init: RequestInit & { path?: string } = {},
): Promise<Answer> {
  const { path = '/v1/chat/completions', ...rest } = init;
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const text = JSON.stringify(body);
  const response = await fetch(url + path, { method: 'POST', headers, body: text, ...rest });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Fails unless it is the answer that was first given. */
export function expectSame(again: Answer, first: Answer): void {
  expect(first.status, first.text).to.be.oneOf([200, 202]);
  expect(first.headers.get('idempotent-replayed')).to.equal(null);
  expect(again.status, again.text).to.equal(first.status);
  expect(again.text).to.equal(first.text);
  expect(again.headers.get('idempotent-replayed')).to.equal('true');
  expect(again.headers.get('content-type')).to.equal(first.headers.get('content-type'));
  expect(again.headers.get('x-request-id')).to.not.equal(first.headers.get('x-request-id'));
}

/** The status and code of a refusal, in the one shape. */
export function refused(answer: Answer): [number, string] {
  const { code, param } = errorOf(answer);
  expect(param).to.equal(null);
  return [answer.status, code];
}
