import { expect } from 'chai';
import { sign, signFor } from '../../../providers/bedrock/sign.js';
import type { Credentials, UnsignedRequest } from '../../../src/core/provider.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { SUITE, VECTORS } from '../../fixtures/sigv4-vectors.js';

const NOW_MS = Date.parse('2026-01-02T03:04:05Z');
const KEYS: Credentials = {
  region: 'us-east-1',
  access_key_id: SUITE.access_key_id,
  secret_access_key: SUITE.secret_access_key,
};
const BODY =
  '{"messages":[{"role":"user","content":[{"text":"Hi"}]}],"inferenceConfig":{"maxTokens":16}}';

function request(more: Partial<UnsignedRequest> = {}): UnsignedRequest {
  const host = 'https://bedrock-runtime.us-east-1.amazonaws.com';
  return {
    method: 'POST',
    url: new URL(`${host}/model/amazon.nova-lite-v1%3A0/converse`),
    headers: { 'content-type': 'application/json' },
    body: BODY,
    ...more,
  };
}

describe('the signature of a request to Bedrock', () => {
  for (const { name, method, target, headers = {}, body, signed, ...due } of VECTORS) {
    it(`is the one that AWS publishes for ${name}`, async () => {
      const url = new URL(target, SUITE.host);
      const { session_token, signature } = due;
      const credentials = { ...KEYS, ...(session_token && { session_token }) };
      const unsigned = { method, url, headers, body };
      const { authorization } = await signFor(SUITE.service, unsigned, credentials, SUITE.now_ms);
      expect(authorization).to.equal(
        `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ` +
          `SignedHeaders=${signed}, Signature=${signature}`,
      );
    });
  }

  it('encodes the path of a model twice, so that a colon in its name is no mismatch', async () => {
    expect(await sign(request(), KEYS, NOW_MS)).to.deep.equal({
      'x-amz-date': '20260102T030405Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/us-east-1/bedrock/aws4_request, ' +
        'SignedHeaders=content-type;host;x-amz-date, ' +
        'Signature=59a75901430f46d0f814564757ed6c1c3929af470883bdc2bf34d1869d6894b1',
    });
  });

  it('covers bytes as it covers text', async () => {
    const text = await sign(request(), KEYS, NOW_MS);
    const bytes = await sign(request({ body: Buffer.from(BODY) }), KEYS, NOW_MS);
    expect(bytes).to.deep.equal(text);
    const other = await sign(request({ body: `${BODY} ` }), KEYS, NOW_MS);
    expect(other.authorization).to.not.equal(text.authorization);
  });

  it('sends and signs the session token of temporary keys', async () => {
    const headers = await sign(request(), { ...KEYS, session_token: 'session-1' }, NOW_MS);
    expect(headers['x-amz-security-token']).to.equal('session-1');
    expect(headers.authorization).to.include(
      'SignedHeaders=content-type;host;x-amz-date;x-amz-security-token,',
    );
  });

  it('leaves out headers that a proxy may change', async () => {
    const headers = { 'content-type': 'application/json', accept: '*/*', 'x-request-id': 'r' };
    expect(await sign(request({ headers }), KEYS, NOW_MS)).to.deep.equal(
      await sign(request(), KEYS, NOW_MS),
    );
  });

  it('counts the port of an upstream as part of its host', async () => {
    const at = (host: string): Promise<Record<string, string>> =>
      sign(request({ url: new URL(`${host}/model/m/converse`) }), KEYS, NOW_MS);
    const [plain, usual, other] = await Promise.all([
      at('https://aws.invalid'),
      at('https://aws.invalid:443'),
      at('https://aws.invalid:8443'),
    ]);
    expect(usual).to.deep.equal(plain);
    expect(other.authorization).to.not.equal(plain.authorization);
  });

  for (const name of ['region', 'access_key_id', 'secret_access_key'] as const) {
    it(`is refused without a ${name}, in words that hold no key`, async () => {
      const credentials = { ...KEYS, session_token: 'session-1', [name]: '' };
      const error = await sign(request(), credentials, NOW_MS).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(UpstreamError);
      const { fault, message, stack } = error as UpstreamError;
      expect(fault).to.equal('credentials');
      for (const secret of [SUITE.access_key_id, SUITE.secret_access_key, 'session-1']) {
        expect(message + String(stack)).to.not.include(secret);
      }
    });
  }

  it('says nothing of the keys in its headers but the name of one', async () => {
    const headers = await sign(request(), { ...KEYS, session_token: 'session-1' }, NOW_MS);
    expect(JSON.stringify(headers)).to.not.include(SUITE.secret_access_key);
  });
});
