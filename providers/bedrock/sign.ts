import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Credentials, RequestSigner, UnsignedRequest } from '../../src/core/provider.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

type Data = string | ArrayBuffer | ArrayBufferView;

/** Headers that proxies leave alone. A signature over others could break on the way. */
const SIGNED = /^(content-type|x-amz-.*)$/u;

/** SHA-256 by Node's crypto, or an HMAC of it if there is a secret. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: Data) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: Data): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function bytesOf(data: Data): Uint8Array | string {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

/**
 * Signs a request to Bedrock by AWS Signature Version 4. Resolves with the headers `authorization`,
 * `x-amz-date` and, for temporary credentials, `x-amz-security-token`. Rejects with the
 * `UpstreamError` `credentials` where the region or one of the keys is missing.
 */
export const sign: RequestSigner = (request, credentials, now_ms) => {
  const headers = Object.entries(request.headers).filter(([name]) => SIGNED.test(name));
  const signed = { ...request, headers: Object.fromEntries(headers) };
  return signFor('bedrock', signed, credentials, now_ms);
};

/** Signs all headers of a request, and its host, for the service of that name. */
export async function signFor(
  service: string,
  { method, url, headers, body }: UnsignedRequest,
  { region, access_key_id, secret_access_key, session_token }: Credentials,
  now_ms: number,
): Promise<Record<string, string>> {
  if (!region || !access_key_id || !secret_access_key) {
    throw new UpstreamError('credentials', 'The gateway has no AWS credentials for this upstream.');
  }
  const signer = new SignatureV4({
    service,
    region,
    sha256: Sha256,
    // The header `x-amz-content-sha256` is for S3: the hash is part of the signature anyway.
    applyChecksum: false,
    credentials: {
      accessKeyId: access_key_id,
      secretAccessKey: secret_access_key,
      ...(session_token && { sessionToken: session_token }),
    },
  });
  const signed = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: queryOf(url),
      headers: { ...headers, host: url.host },
      body,
    },
    { signingDate: new Date(now_ms) },
  );
  const names = ['authorization', 'x-amz-date', 'x-amz-security-token'];
  const own = names.map((name) => [name, signed.headers[name]] as const);
  return Object.fromEntries(own.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

function queryOf({ searchParams }: URL): Record<string, string[]> {
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]),
  );
}
