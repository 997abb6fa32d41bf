import { expect } from 'chai';
import { errorOf, type Answer } from '../../helpers/ask.js';
import { HELLO, scriptedGateways, UPSTREAM_KEY } from '../../money/helpers/scripted-gateway.js';
import type { Step } from '../../helpers/upstream.js';

const JSON_TYPE = { 'content-type': 'application/json' };

function failure(status: number, type: string, message: string, headers = {}): Step {
  const body = JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' });
  return { status, headers: { ...JSON_TYPE, ...headers }, body };
}

describe('an error of Anthropic', () => {
  const open = scriptedGateways();

  async function answerTo(step: Step): Promise<Answer> {
    const house = await open(step, { uses: 'anthropic' });
    const response = await house.post(HELLO);
    expect(house.upstream.requests[0]?.headers).to.deep.include({
      'x-api-key': UPSTREAM_KEY,
      'anthropic-version': '2023-06-01',
    });
    expect(await house.charges()).to.deep.equal([]);
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  }

  const clients: [string, string, string][] = [
    ['a prompt that is too long', 'context_length_exceeded', 'prompt is too long: 9 tokens > 8'],
    [
      'a prompt that leaves no room for max_tokens',
      'context_length_exceeded',
      'input length and `max_tokens` exceed context limit: 9 + 8 > 10, decrease them',
    ],
    [
      'an answer that Anthropic filters',
      'content_policy_violation',
      'Output blocked by content filtering policy',
    ],
    ['a request that is wrong', 'invalid_request', 'temperature: must be a number'],
  ];
  for (const [what, code, message] of clients) {
    it(`tells the client of ${what}: ${code}`, async () => {
      const answer = await answerTo(failure(400, 'invalid_request_error', message));
      expect(answer.status).to.equal(400);
      expect(errorOf(answer)).to.include({ code, message });
    });
  }

  const upstreams: [string, number, string, string][] = [
    ['overloaded', 529, 'overloaded_error', 'Overloaded'],
    ['short of credit', 400, 'invalid_request_error', 'Your credit balance is too low'],
    [
      'at a limit of the account',
      400,
      'invalid_request_error',
      'You have reached your specified API usage limits.',
    ],
    ['given a bad key', 401, 'authentication_error', `invalid x-api-key ${UPSTREAM_KEY}`],
    ['without the model', 404, 'not_found_error', 'model: claude-x'],
    ['broken', 500, 'api_error', 'Internal server error'],
  ];
  for (const [what, status, type, message] of upstreams) {
    it(`is the gateway's own affair where Anthropic is ${what}`, async () => {
      const answer = await answerTo(failure(status, type, message, { 'retry-after': '7' }));
      expect(answer.status).to.equal(502);
      expect(answer.text).to.not.include(UPSTREAM_KEY);
      expect(errorOf(answer).code).to.equal('upstream_error');
    });
  }

  it('keeps the hint when to ask again', async () => {
    const answer = await answerTo(
      failure(529, 'overloaded_error', 'Overloaded', { 'retry-after': '7' }),
    );
    expect(answer.headers.get('retry-after')).to.equal('7');
  });
});
