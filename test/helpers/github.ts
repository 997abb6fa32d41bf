import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hash, randomUUID } from 'node:crypto';

export interface GithubPerson {
  id: number | string;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

export interface FakeGithub {
  url: string;
  client_secret: string;
  /** Who signs in next; nobody declines. */
  person: GithubPerson | undefined;
  /** What the token endpoint says, with 200, in place of a token. */
  error: string | undefined;
  /** Paths that were asked for, in order. */
  asked: string[];
  /** How the API answers in place of 200. */
  api_status: number | undefined;
  close(): Promise<void>;
}

export const OCTOCAT: GithubPerson = {
  id: 583_231,
  emails: [
    { email: 'other@example.com', primary: false, verified: true },
    { email: 'Octocat@Example.org', primary: true, verified: true },
  ],
};

interface Grant {
  person: GithubPerson;
  redirect_uri: string;
  challenge: string;
}

/** As GitHub does it: OAuth with PKCE, errors of the token endpoint with status 200, an API. */
export async function startGithub(): Promise<FakeGithub> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, GithubPerson>();
  const fake: FakeGithub = {
    url,
    client_secret: 'github-client-secret-0123456789',
    person: OCTOCAT,
    error: undefined,
    asked: [],
    api_status: undefined,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('request', (req, res) => void answer(fake, codes, tokens, req, res));
  return fake;
}

async function answer(
  fake: FakeGithub,
  codes: Map<string, Grant>,
  tokens: Map<string, GithubPerson>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(req.url ?? '/', fake.url);
  fake.asked.push(pathname);
  if (pathname === '/login/oauth/authorize') return authorize(fake, codes, searchParams, res);
  if (pathname === '/login/oauth/access_token') {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    return sendJson(res, 200, exchange(fake, codes, tokens, form));
  }
  const person = tokens.get(req.headers.authorization?.replace(/^bearer /iu, '') ?? '');
  if (!person || !req.headers['user-agent']) return sendJson(res, 401, { message: 'Bad' });
  if (fake.api_status) return sendJson(res, fake.api_status, { message: 'Not now' });
  sendJson(res, 200, pathname === '/api/v3/user' ? { id: person.id, login: 'x' } : person.emails);
}

function authorize(
  { person }: FakeGithub,
  codes: Map<string, Grant>,
  asked: URLSearchParams,
  res: ServerResponse,
): void {
  const back = new URL(asked.get('redirect_uri') ?? '');
  back.searchParams.set('state', asked.get('state') ?? '');
  if (person) {
    const code = randomUUID();
    const challenge = asked.get('code_challenge') ?? '';
    codes.set(code, { person, redirect_uri: back.origin + back.pathname, challenge });
    back.searchParams.set('code', code);
  } else back.searchParams.set('error', 'access_denied');
  res.writeHead(302, { location: back.href }).end();
}

function exchange(
  { error, client_secret }: FakeGithub,
  codes: Map<string, Grant>,
  tokens: Map<string, GithubPerson>,
  form: URLSearchParams,
): object {
  if (error !== undefined) return refusal(error);
  if (form.get('client_secret') !== client_secret) return refusal('incorrect_client_credentials');
  const grant = codes.get(form.get('code') ?? '');
  codes.delete(form.get('code') ?? '');
  const challenge = hash('sha256', form.get('code_verifier') ?? '', 'base64url');
  if (grant?.challenge !== challenge || grant.redirect_uri !== form.get('redirect_uri')) {
    return refusal('bad_verification_code');
  }
  const access_token = `gho_${randomUUID()}`;
  tokens.set(access_token, grant.person);
  return { access_token, token_type: 'bearer', scope: 'read:user,user:email' };
}

function refusal(error: string): object {
  return { error, error_description: 'Said by GitHub.', error_uri: 'https://docs.github.com' };
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  res.end(JSON.stringify(body));
}
