import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { onEachStore, type Ground } from '../../../store/helpers/ground.js';
import { expectAnswer } from './answers.js';

/** Not where the gateway listens: what a browser calls its origin is a matter of the file. */
export const PUBLIC_URL = 'https://ai.example.org';

/** Somebody who is signed in, or a stranger. */
export interface Client {
  account_id: string;
  get(path: string): Promise<Reply>;
  send(method: string, path: string, body?: unknown, headers?: object): Promise<Reply>;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** Its JSON. */
  json: unknown;
  /** Its JSON once it is known to be a `NAME` of `management-answers`. */
  as<T>(name: string): T;
  /** The code and the field of an error. */
  refusal(): [status: number, code: string, param: string | null];
}

export interface ApiGateway extends OpenaiGateway {
  /** Signs in the account of that name, which is made if it is not there. */
  signIn(name: string, options?: { operator?: boolean; credit_nano?: bigint }): Promise<Client>;
  stranger: Client;
}

interface ScriptedGatewayOptions {
  yaml?: string;
  models?: string;
}

/** What a test has: a gateway of its own, whose time is the test's. */
export interface Here {
  readonly house: ApiGateway;
  readonly ground: Ground;
}

/** Defines the same tests for SQLite, and for PostgreSQL where it is there. */
export function onEachApiGateway(
  subject: string,
  options: ScriptedGatewayOptions,
  define: (here: Here) => void,
): void {
  onEachStore(subject, (ground) => {
    // A suite of its own, so that the house is gone before its store is.
    describe('of a gateway', () => {
      let house: ApiGateway | undefined;
      beforeEach(async () => {
        house = await startHouse(ground, options);
      });
      afterEach(() => house?.close());
      define({
        ground,
        get house() {
          if (!house) throw new Error('A house is there only while a test runs.');
          return house;
        },
      });
    });
  });
}

async function startHouse(
  ground: Ground,
  { yaml = '', models = '' }: ScriptedGatewayOptions,
): Promise<ApiGateway> {
  const acme = await startOpenaiGateway(
    { yaml: `public_url: ${PUBLIC_URL}\n${yaml}`, models },
    { store: ground.place.url, now: () => ground.now_ms },
  );
  const { store } = acme.gateway;
  return {
    ...acme,
    stranger: clientOf(acme.url, '', undefined),
    async signIn(name, { operator = false, credit_nano = 0n } = {}) {
      const account = (await store.account(name)) ?? (await store.createAccount(name, credit_nano));
      const secret = await store.sign_in.createSession({
        account_id: account.id,
        email: null,
        via: 'link',
        operator,
      });
      return clientOf(acme.url, account.id, secret);
    },
  };
}

function clientOf(url: string, account_id: string, secret: string | undefined): Client {
  const cookie = secret === undefined ? {} : { cookie: `session=${secret}` };
  const ask = async (path: string, init: RequestInit): Promise<Reply> => {
    const answer = await fetch(url + path, { ...init, redirect: 'manual' });
    return replyOf(answer.status, answer.headers, await answer.text());
  };
  return {
    account_id,
    get: (path) => ask(path, { headers: cookie }),
    send: (method, path, body, headers = { origin: PUBLIC_URL }) =>
      ask(path, {
        method,
        headers: { 'content-type': 'application/json', ...cookie, ...headers },
        ...(body !== undefined && {
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      }),
  };
}

function replyOf(status: number, headers: Headers, text: string): Reply {
  const isJson = headers.get('content-type')?.startsWith('application/json');
  const json: unknown = isJson ? JSON.parse(text) : undefined;
  return {
    status,
    headers,
    text,
    json,
    as<T>(name: string): T {
      expect(status, text).to.be.within(200, 299);
      expectAnswer(name, json);
      return json as T;
    },
    refusal() {
      const { error } = json as { error: { code: string; param: string | null } };
      return [status, error.code, error.param];
    },
  };
}
