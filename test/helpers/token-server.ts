import { generateKeyPairSync, verify } from 'node:crypto';
import type { ServiceAccount } from '../../src/core/provider.js';
import { play, startUpstream, type FakeUpstream } from './upstream.js';

export interface TokenServer extends FakeUpstream {
  account: ServiceAccount;
  /** What each assertion says, its signature having been checked. */
  claims: Record<string, unknown>[];
  /** Tokens that were given out, in order. */
  tokens: string[];
}

export interface TokenServerOptions {
  expires_in?: number;
  /** Waited for before a token is given. */
  hold?: Promise<unknown>;
  /** Another answer than a token. */
  refusal?: { status: number; body: string };
}

/**
 * A token server that checks the signature of each assertion and gives another token every time:
 * `token-1`, `token-2` and so on.
 */
export async function startTokenServer(options: TokenServerOptions = {}): Promise<TokenServer> {
  const { expires_in = 3_600, hold, refusal } = options;
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const claims: Record<string, unknown>[] = [];
  const tokens: string[] = [];
  const headers = { 'content-type': 'application/json' };
  const server = await startUpstream(async ({ body }, response) => {
    await hold;
    if (refusal) return play({ ...refusal, headers }, response);
    const form = new URLSearchParams(body);
    const [head = '', said = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const isSigned =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      parse(head).alg === 'RS256' &&
      verify('sha256', Buffer.from(`${head}.${said}`), publicKey, unpacked(signature));
    if (!isSigned) {
      const error = { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' };
      return play({ status: 400, headers, body: JSON.stringify(error) }, response);
    }
    claims.push(parse(said));
    tokens.push(`token-${tokens.length + 1}`);
    const answer = { access_token: tokens.at(-1), expires_in, token_type: 'Bearer' };
    return play({ headers, body: JSON.stringify(answer) }, response);
  });
  const account: ServiceAccount = {
    client_email: 'robot@example.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    token_url: `${server.url}/token`,
  };
  return Object.assign(server, { account, claims, tokens });
}

function unpacked(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

function parse(text: string): Record<string, unknown> {
  return JSON.parse(unpacked(text).toString('utf8')) as Record<string, unknown>;
}
