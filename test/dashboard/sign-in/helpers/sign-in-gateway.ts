import { writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { checkOrThrow } from '../../../../src/gateway/gateway.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { startGithub, type FakeGithub } from '../../../helpers/github.js';
import { startOpenId, type OpenIdOptions, type OpenIdServer } from '../../../helpers/openid.js';
import { CookieClient } from '../../../helpers/cookie-client.js';

export interface SignInGateway {
  gateway: TestGateway;
  openid: OpenIdServer;
  github: FakeGithub;
  /** Everything that was logged so far, as text. */
  logged(): string;
  now_ms: number;
  /** Somebody with a browser of their own. */
  person(): CookieClient;
  /** Takes up another `sign_in` block, as an edited file does, and other providers. */
  signIn(block: string, providers?: string): Promise<void>;
  close(): Promise<void>;
}

export interface SignInGatewayOptions {
  public_url?: string;
  /** Where it listens, for a browser that goes to the real `public_url`. */
  port?: number;
  /** Further terms of `acme`. */
  acme?: string;
  /** In place of a SQLite file of its own. */
  store?: string;
  /** Further lines of gateway.yaml. */
  yaml?: string;
  /** Further lines of `sign_in`. */
  sign_in?: string;
  openid?: Partial<OpenIdOptions>;
}

export const HERE = 'https://ai.example.org';
const ALLOW = `  allow: ['@example.org']\n  operators: [ada@example.org]\n  credit: 1.00\n`;

/** A gateway that two third parties vouch at: `acme` by OpenID Connect, `hub` as GitHub does. */
export async function startSignInGateway(
  options: SignInGatewayOptions = {},
): Promise<SignInGateway> {
  const { public_url = HERE, yaml = '', sign_in = ALLOW } = options;
  const callbacks = ['acme', 'other'].map((name) => `${public_url}/sign-in/${name}/callback`);
  const openid = await startOpenId({ redirect_uris: callbacks, ...options.openid });
  const github = await startGithub();
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const secret = options.openid?.public ? '' : `, client_secret: ${openid.client_secret}`;
  const client = `client_id: ${openid.client_id}${secret}`;
  const { acme: terms = '' } = options;
  const acme = `{ name: Acme ID, issuer: '${openid.issuer}', ${client}${terms} }`;
  const hub = `{ kind: github, name: Hub, client_id: hub, client_secret: ${github.client_secret}, base_url: '${github.url}' }`;
  const both = `    acme: ${acme}\n    hub: ${hub}`;
  const file = (block: string, providers = both): string => `public_url: ${public_url}
owners: { a: { name: A } }
providers: { p: { uses: simulator } }
models: { m: { owner: a, capabilities: [chat], upstreams: [{ provider: p }], price: { input_per_million: 100, output_per_million: 200 } } }
sign_in:
  providers:
${providers}
${block}${yaml}`;
  const clock = { now_ms: Date.now() };
  const gateway = await startGateway(file(sign_in), {
    log,
    now: () => clock.now_ms,
    port: options.port ?? 0,
    ...(options.store !== undefined && { store: options.store }),
  });
  return Object.assign(clock, {
    openid,
    github,
    gateway,
    logged: () => lines.join(''),
    person: () => new CookieClient(public_url, gateway.url),
    signIn: async (block: string, named?: string) => {
      await writeFile(gateway.file, `store: sqlite:tollgate.db\n${file(block, named)}`);
      gateway.gateway.reload(await checkOrThrow(gateway.file, {}));
    },
    close: async () => {
      await gateway.close();
      await openid.close();
      await github.close();
    },
  });
}
