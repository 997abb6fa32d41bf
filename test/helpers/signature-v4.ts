import { createHash, createHmac } from 'node:crypto';
import type { Received } from './upstream.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

/** What a fake of AWS knows of its caller. */
export interface KnownKeys {
  region: string;
  access_key_id: string;
  secret_access_key: string;
}

/**
 * What is wrong with the signature of a request to Bedrock; undefined where it is right. Worked out
 * from AWS's description, apart from the signer that it checks.
 */
export function signatureFault(
  { method, path, headers, body }: Received,
  { region, access_key_id, secret_access_key }: KnownKeys,
): string | undefined {
  const said = headers.authorization ?? '';
  const date = String(headers['x-amz-date']);
  const scope = `${date.slice(0, 8)}/${region}/bedrock/aws4_request`;
  const names = /SignedHeaders=([^,]+),/u.exec(said)?.[1] ?? '';
  for (const name of ['host', 'x-amz-date']) {
    if (!names.split(';').includes(name)) return `${name} is not signed`;
  }
  const canonical = [
    method,
    path.split('/').map(encodeURIComponent).join('/'),
    '',
    ...names.split(';').map((name) => `${name}:${String(headers[name])}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret_access_key}`);
  const due =
    `AWS4-HMAC-SHA256 Credential=${access_key_id}/${scope}, ` +
    `SignedHeaders=${names}, Signature=${hmac(key, text).toString('hex')}`;
  return said === due ? undefined : `${said} is not ${due}`;
}
