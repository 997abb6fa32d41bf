import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

export interface Person {
  email?: string;
  email_verified?: boolean | string;
  /** What stands in the userinfo in place of the rest. */
  userinfo?: { email?: string; email_verified?: boolean };
}

export interface OpenIdOptions {
  /** All callbacks of the gateway: `{public_url}/sign-in/NAME/callback`. */
  redirect_uris: string[];
  /** By the name they sign in with. */
  people?: Record<string, Person>;
  /** A client without a secret. */
  public?: boolean;
  /** Leaves the address out of the ID token, so that it must be asked for. */
  userinfo?: boolean;
}

export interface OpenIdServer {
  issuer: string;
  client_id: string;
  client_secret: string;
  people: Record<string, Person>;
  /** Paths that were asked for, in order. */
  asked: string[];
  /** Answers 500 to everything, as one that is down. */
  down: boolean;
  /** May change what is sent to the gateway from a path. */
  tamper: ((path: string, body: string) => string) | undefined;
  close(): Promise<void>;
}

const CLIENT = { id: 'tollgate', secret: 'openid-client-secret-0123456789' };
export const PEOPLE: Record<string, Person> = {
  ada: { email: 'Ada@Example.org', email_verified: true },
  grace: { email: 'grace@example.org', email_verified: true },
};

/**
 * A real OpenID provider on loopback. Its sign-in page is a list of links, one for each person: a
 * click on a name is all there is to do. Nobody is remembered between two sign-ins.
 */
export async function startOpenId(options: OpenIdOptions): Promise<OpenIdServer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = { ...PEOPLE, ...options.people };
  const provider = quietly(() => new Provider(issuer, configure(options, people)));
  const answer = provider.callback();
  const state: OpenIdServer = {
    issuer,
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    people,
    asked: [],
    down: false,
    tamper: undefined,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('request', (req, res) => {
    const { pathname } = new URL(req.url ?? '/', issuer);
    state.asked.push(pathname);
    if (state.down) res.writeHead(500).end('down');
    else if (pathname.startsWith('/interaction/')) void interact(provider, people, req, res);
    else {
      // Who has signed in there before is asked again all the same.
      req.headers.cookie = req.headers.cookie?.replaceAll(/_session(\.\w+)*=[^;]*/gu, '');
      if (state.tamper) tamperWith(res, pathname, state.tamper);
      void answer(req, res);
    }
  });
  return state;
}

/** It warns those who would run it in earnest like this. */
function quietly<T>(make: () => T): T {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return make();
  } finally {
    console.warn = warn;
  }
}

function configure(
  { redirect_uris, userinfo, public: isPublic }: OpenIdOptions,
  people: Record<string, Person>,
): Configuration {
  const client = { client_id: CLIENT.id, redirect_uris };
  return {
    clients: [
      isPublic
        ? { ...client, token_endpoint_auth_method: 'none' }
        : { ...client, client_secret: CLIENT.secret },
    ],
    claims: { email: ['email', 'email_verified'] },
    conformIdTokenClaims: userinfo ?? false,
    cookies: { keys: ['a key for tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: (use) => {
        const { userinfo: told, ...person } = people[sub] ?? {};
        return { sub, ...(use === 'userinfo' && told ? told : person) };
      },
    }),
    // Nobody is asked to consent.
    loadExistingGrant: async (ctx) => {
      const { client: asking, session, provider } = ctx.oidc;
      const grant = new provider.Grant({
        clientId: asking?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  };
}

async function interact(
  provider: Provider,
  people: Record<string, Person>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const url = new URL(req.url ?? '/', provider.issuer);
  const as = url.searchParams.get('as');
  if (as === null) {
    const links = Object.keys(people).map(
      (name) => `<a href="${url.pathname}?as=${name}">${name}</a>`,
    );
    const deny = `<a href="${url.pathname}?as=">nobody</a>`;
    const page = `<!doctype html><title>Who are you?</title>${links.join(' ')} ${deny}`;
    res.setHeader('content-type', 'text/html').end(page);
    return;
  }
  const result =
    as === ''
      ? { error: 'access_denied', error_description: 'nobody came' }
      : { login: { accountId: as, remember: false } };
  await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
}

function tamperWith(
  res: ServerResponse,
  path: string,
  tamper: (path: string, body: string) => string,
): void {
  const end = res.end.bind(res) as (body?: unknown) => ServerResponse;
  res.end = ((body?: unknown) => {
    if (typeof body !== 'string') return end(body);
    const text = tamper(path, body);
    res.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  }) as typeof res.end;
}
