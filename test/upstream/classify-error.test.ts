import { expect } from 'chai';
import { classifyError, classifyErrorInside } from '../../src/upstream/classify-error.js';
import { FAULT_MESSAGES, type Fault } from '../../src/core/upstream-error.js';

const json = (value: unknown): string => JSON.stringify(value);
const error = (fields: object): string => json({ error: { message: 'Sorry.', ...fields } });

describe('classifyError', () => {
  const statuses: [number, string, Fault][] = [
    [400, error({ code: 'unsupported_value' }), 'rejected'],
    [413, 'Request Entity Too Large', 'rejected'],
    [422, json({ detail: [{ loc: ['body'], msg: 'bad n' }] }), 'rejected'],
    [422, json({ detail: [{ msg: 'No.', type: 'content_policy_violation' }] }), 'policy'],
    [400, error({ code: 'context_length_exceeded' }), 'context'],
    [400, error({ message: "This model's maximum context length is 9 tokens." }), 'context'],
    [400, error({ type: 'exceed_context_size_error', code: 400 }), 'context'],
    [400, error({ message: 'The input token count (9) exceeds the limit.' }), 'context'],
    [400, error({ type: 'too_many_prompt_tokens', code: 400 }), 'context'],
    [400, json({ error: 'prompt too long; exceeded max context length by 9 tokens' }), 'context'],
    [400, error({ message: "This model's maximum prompt length is 9 tokens." }), 'context'],
    [400, error({ message: 'Prompt token count of 9 exceeds the limit of 8.' }), 'context'],
    [400, error({ message: 'Your request exceeded model token limit: 8' }), 'context'],
    [400, error({ message: 'invalid params, context window exceeds limit' }), 'context'],
    [413, error({ code: 'tokens_limit_reached' }), 'context'],
    [400, error({ message: 'max_tokens is too large: 9. It is at most 8.' }), 'rejected'],
    [400, error({ message: 'Blocked by Model Armor.', status: 'INVALID_ARGUMENT' }), 'policy'],
    [400, error({ message: 'Blocked.', details: [{ reason: 'MODEL_ARMOR' }] }), 'policy'],
    [
      400,
      json([{ error: { message: 'User location is not supported for the API use.' } }]),
      'missing',
    ],
    [400, error({ code: 'content_filter' }), 'policy'],
    [400, error({ code: 'moderation_blocked' }), 'policy'],
    [400, error({ innererror: { code: 'ResponsibleAIPolicyViolation' } }), 'policy'],
    [400, error({ details: [{ reason: 'API_KEY_INVALID' }] }), 'credentials'],
    [400, error({ message: 'API key not valid. Please pass one.' }), 'credentials'],
    [400, error({ message: 'Your credit balance is too low.' }), 'quota'],
    [400, error({ code: 'model_not_found' }), 'missing'],
    [400, error({ type: 'invalid_request_error', code: 'tool_use_failed' }), 'broken'],
    [
      400,
      error({
        code: 'tool_use_failed',
        message: 'Tool choice is required, but model did not call a tool',
      }),
      'unsupported',
    ],
    [400, error({ code: 'json_validate_failed' }), 'broken'],
    [422, error({ code: 'output_parse_failed' }), 'broken'],
    [400, error({ message: 'Tool call validation failed: parameters did not match.' }), 'broken'],
    [400, error({ message: 'Failed to generate JSON. Please adjust your prompt.' }), 'broken'],
    [400, error({ message: 'The model produced invalid content.' }), 'broken'],
    [400, error({ type: 'model_error' }), 'broken'],
    [400, error({ code: 'content_filter_error' }), 'broken'],
    [400, error({ message: 'The content filtering system is unavailable.' }), 'broken'],
    [400, error({ type: 'overloaded_error' }), 'overloaded'],
    [400, error({ message: 'The model is currently overloaded.' }), 'overloaded'],
    [400, error({ status: 'UNAVAILABLE' }), 'overloaded'],
    [400, error({ message: 'Server busy, try later.' }), 'overloaded'],
    [400, error({ code: 'rate_limit_exceeded' }), 'rate_limited'],
    [400, error({ type: 'server_error' }), 'broken'],
    // A text of a client, which the upstream repeats.
    [400, error({ message: 'Bad role: "failed to call a function"' }), 'rejected'],
    [400, error({ message: 'The name "overloaded" is not a string.' }), 'rejected'],
    [400, error({ message: 'tools[0].name: unavailable characters' }), 'rejected'],
    [401, error({ code: 'invalid_api_key' }), 'credentials'],
    [403, error({ status: 'PERMISSION_DENIED' }), 'credentials'],
    [403, json({ detail: 'User is locked. Reason: Exhausted balance.' }), 'quota'],
    [402, json({ title: 'Insufficient credit' }), 'quota'],
    [404, error({ code: 'model_not_found' }), 'missing'],
    [429, error({ type: 'requests', code: 'rate_limit_exceeded' }), 'rate_limited'],
    [429, error({ status: 'RESOURCE_EXHAUSTED' }), 'rate_limited'],
    [429, error({ type: 'insufficient_quota', code: 'insufficient_quota' }), 'quota'],
    [429, error({ code: 'project_spend_limit_exceeded' }), 'quota'],
    [503, error({}), 'overloaded'],
    [529, error({ type: 'overloaded_error' }), 'overloaded'],
    [500, error({ type: 'server_error' }), 'broken'],
    [502, '<html><h1>502 Bad Gateway</h1></html>', 'broken'],
    [307, '', 'broken'],
    [408, '', 'broken'],
  ];
  for (const [status, body, fault] of statuses) {
    it(`is ${fault} for ${status} ${body.slice(0, 60)}`, () => {
      expect(classifyError(status, {}, body).fault).to.equal(fault);
    });
  }

  it('tells a client nothing of a page, and keeps it for the operator', () => {
    for (const page of ['<html>At /srv/x.js:1:2</html>', '\n<!DOCTYPE html><p>No</p>', '<?xml?>']) {
      const error = classifyError(400, {}, page, undefined, '{}');
      expect(error).to.include({ fault: 'rejected', message: FAULT_MESSAGES.rejected });
      expect(error.kept_message).to.equal(page.trim());
    }
    expect(classifyError(400, {}, 'a < b').message).to.equal('a < b');
  });

  const messages: [string, unknown, string][] = [
    ['a list', [{ error: { message: 'In a list.' } }], 'In a list.'],
    ['an error object', { error: { message: 'In an object.' } }, 'In an object.'],
    ['an error text', { error: 'As text.', code: 'x' }, 'As text.'],
    ['a flat message', { object: 'error', message: 'Flat.', code: 400 }, 'Flat.'],
    ['a detail', { detail: 'In detail.' }, 'In detail.'],
    ['a list of details', { detail: [{ msg: 'One.' }, { msg: 'Two.' }] }, 'One.; Two.'],
    [
      "a reseller's raw error",
      {
        error: {
          message: 'Provider returned error',
          metadata: { raw: json({ error: { message: 'Raw.' } }) },
        },
      },
      'Raw.',
    ],
    ['a message that is no text', { error: { message: 7 } }, '7'],
    [
      'a message of the wrong type',
      { error: { message: {} } },
      'The upstream rejected the request.',
    ],
    ['nothing', null, 'The upstream rejected the request.'],
  ];
  for (const [what, body, message] of messages) {
    it(`finds the message in ${what}`, () => {
      expect(classifyError(400, {}, json(body)).message).to.equal(message);
    });
  }

  it("keeps 300 characters of a client's fault that is not JSON", () => {
    expect(classifyError(400, {}, 'x'.repeat(500)).message).to.equal('x'.repeat(300));
  });

  it("keeps 1,000 characters of a client's fault", () => {
    expect(classifyError(400, {}, error({ message: 'x'.repeat(5_000) })).message).to.have.length(
      1_000,
    );
  });

  it("leaves out the upstream's message if the client is not at fault", () => {
    for (const status of [302, 401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529]) {
      const { message } = classifyError(
        status,
        {},
        error({ message: 'Key sk-secret of ACME Ltd.' }),
      );
      expect(message)
        .to.match(/^The (upstream|gateway)/u)
        .and.not.match(/secret|ACME/u);
    }
  });

  const too_large: [string, number, string][] = [
    [
      'OpenAI',
      429,
      'Request too large for gpt-4.1-2025-04-14 (for limit gpt-4.1) in organization org-lFXO45OI on ' +
        'tokens per min (TPM): Limit 30000, Requested 37313. The input or output tokens must be ' +
        'reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits ' +
        'to learn more.',
    ],
    [
      'Groq',
      413,
      'Request too large for model `openai/gpt-oss-120b` in organization `org_x` service tier ' +
        '`on_demand` on tokens per minute (TPM): Limit 8000, Requested 8391, please reduce your ' +
        'message size and try again.',
    ],
  ];
  for (const [who, status, message] of too_large) {
    it(`tells a request that is too large for any minute from a full one, as ${who} says it`, () => {
      const inside = { message, type: 'tokens', param: null, code: 'rate_limit_exceeded' };
      for (const found of [
        classifyError(status, {}, json({ error: inside })),
        classifyErrorInside({ error: inside }),
      ]) {
        expect(found).to.include({
          fault: 'rate_limited',
          is_too_large: true,
          message: 'The request has more tokens than the upstream takes in a minute.',
        });
      }
    });
  }

  it('takes a minute that is full for no request that is too large', () => {
    const message =
      'Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, ' +
      'Used 28001, Requested 2400. Please try again in 802ms. Visit ' +
      'https://platform.openai.com/account/rate-limits to learn more.';
    const full = classifyError(429, {}, error({ message, code: 'rate_limit_exceeded' }));
    expect(full).to.include({ fault: 'rate_limited', is_too_large: false });
  });

  it('masks the credentials of the call wherever the upstream repeats them', () => {
    const headers = {
      Authorization: 'Bearer sk-12345678',
      'x-key': 'abc/def+123=',
      accept: 'text/html',
    };
    const message = 'Got sk-12345678, Bearer sk-12345678, abc/def+123= for text/html.';
    const fault = classifyError(400, {}, error({ message }), { headers });
    expect(fault.message).to.equal('Got ***, Bearer ***, *** for text/html.');
    const hidden = classifyError(500, {}, error({ message, code: 'sk-12345678' }), { headers });
    expect(hidden.cause).to.have.property(
      'message',
      'The upstream said the code ***, with status 500.',
    );
  });

  const hints: [Record<string, string>, object, string | undefined][] = [
    [{ 'retry-after': '7' }, {}, '7'],
    [{ 'retry-after': '1.2' }, {}, '2'],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, {}, 'Wed, 21 Oct 2026 07:28:00 GMT'],
    [{ 'retry-after': 'soon' }, {}, undefined],
    [{ 'retry-after-ms': '1500' }, {}, '2'],
    [{ 'retry-after': '9', 'retry-after-ms': '1500' }, {}, '9'],
    [{}, { details: [{ retryDelay: '34.4s' }] }, '35'],
    [{}, { details: 'none' }, undefined],
  ];
  for (const [headers, fields, expected] of hints) {
    it(`tells to retry after ${expected} for ${json(headers)} ${json(fields)}`, () => {
      expect(classifyError(429, headers, error(fields)).retry_after).to.equal(expected);
    });
  }
});

describe('failureInside', () => {
  const bodies: [unknown, Fault][] = [
    [{ error: { message: 'Sorry.', code: 400 } }, 'rejected'],
    [{ error: { message: 'Sorry.', code: 'tool_use_failed', status_code: 400 } }, 'broken'],
    [{ error: { type: 'invalid_request_error', code: 'json_validate_failed' } }, 'broken'],
    [{ error: { type: 'invalid_request_error', message: 'Failed to call a function.' } }, 'broken'],
    [
      { error: { type: 'invalid_request_error', message: 'The server is overloaded.' } },
      'overloaded',
    ],
    [
      {
        error: {
          code: 400,
          message: 'Provider returned error',
          metadata: { raw: json({ error: { code: 'tool_use_failed' } }) },
        },
      },
      'broken',
    ],
    [{ error: { message: 'Sorry.', code: 429 } }, 'rate_limited'],
    [{ error: { type: 'overloaded_error' } }, 'overloaded'],
    [{ error: { type: 'rate_limit_error' } }, 'rate_limited'],
    [{ error: { type: 'insufficient_quota' } }, 'quota'],
    [{ error: { type: 'authentication_error' } }, 'credentials'],
    [{ error: { type: 'NotFoundError' } }, 'missing'],
    [{ error: { type: 'invalid_request_error' } }, 'rejected'],
    [{ error: { code: 'content_filter' } }, 'policy'],
    [{ error: { type: 'server_error' } }, 'broken'],
    [{ error: 'It broke.' }, 'broken'],
    ['{"error":{"code":503}}', 'overloaded'],
    ['not JSON', 'broken'],
    [[{ error: { code: 404 } }], 'missing'],
    [null, 'broken'],
  ];
  for (const [body, fault] of bodies) {
    it(`is ${fault} for ${json(body)}`, () => {
      expect(classifyErrorInside(body).fault).to.equal(fault);
    });
  }
});
