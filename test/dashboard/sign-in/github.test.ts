import { expect } from 'chai';
import { OCTOCAT } from '../../helpers/github.js';
import type { CookieClient, Seen } from '../../helpers/cookie-client.js';
import { HERE, startSignInGateway, type SignInGateway } from './helpers/sign-in-gateway.js';

const START = '/sign-in/hub?return_to=/models';

describe('a sign-in with GitHub', () => {
  let ground: SignInGateway;
  let person: CookieClient;
  before(async () => {
    ground = await startSignInGateway();
  });
  after(() => ground.close());
  beforeEach(() => {
    ground.now_ms += 60_000;
    Object.assign(ground.github, { person: OCTOCAT, error: undefined, api_status: undefined });
    person = ground.person();
  });

  const signIn = async (): Promise<Seen> => {
    const { address } = await person.follow(START, /\/callback\?/u);
    return person.get(address);
  };

  it('asks for what it needs to know', async () => {
    const { location } = await person.get(START);
    const asked = new URL(location);
    expect(asked.origin + asked.pathname).to.equal(`${ground.github.url}/login/oauth/authorize`);
    expect(Object.fromEntries(asked.searchParams)).to.include({
      client_id: 'hub',
      redirect_uri: `${HERE}/sign-in/hub/callback`,
      scope: 'read:user user:email',
      code_challenge_method: 'S256',
    });
  });

  it('lets somebody in by the primary address', async () => {
    const answer = await signIn();
    expect(answer.status, answer.text).to.equal(303);
    expect(answer.location).to.equal(`${HERE}/models`);
    const account = await ground.gateway.gateway.store.account('octocat@example.org');
    expect(account?.balance_nano).to.equal(1_000_000_000n);
  });

  it('knows who changed their address', async () => {
    await signIn();
    const moved = [{ email: 'moved@example.org', primary: true, verified: true }];
    ground.github.person = { ...OCTOCAT, emails: moved };
    expect((await signIn()).status).to.equal(303);
    expect(await ground.gateway.gateway.store.account('moved@example.org')).to.equal(undefined);
  });

  it('joins the account that another provider vouched for', async () => {
    const emails = [{ email: 'ada@example.org', primary: true, verified: true }];
    ground.github.person = { id: 7, emails };
    const other = ground.person();
    const both = await Promise.all([signIn(), other.signIn('/sign-in/acme', 'ada')]);
    expect(both.map(({ status }) => status)).to.deep.equal([303, 303]);
    const account = await ground.gateway.gateway.store.account('ada@example.org');
    expect(account?.balance_nano).to.equal(1_000_000_000n);
    const entries = await ground.gateway.gateway.store.ledger(account?.id ?? '', { limit: 10 });
    expect(entries).to.have.length(1);
  });

  const email = { email: 'eve@example.org', primary: true, verified: true };
  const refused: [what: string, change: object, status: number, words: string][] = [
    ['who declines', { person: undefined }, 403, 'did not let you in'],
    ['a code that it does not know', { error: 'bad_verification_code' }, 400, 'Start again'],
    ['a secret that it does not know', { error: 'incorrect_client_credentials' }, 502, 'just now'],
    ['a redirect it does not like', { error: 'redirect_uri_mismatch' }, 502, 'just now'],
    ['whose API is down', { api_status: 503 }, 502, 'just now'],
    ['whose API refuses', { api_status: 403 }, 502, 'just now'],
    ['no address', { person: { id: 8, emails: [] } }, 403, 'address'],
    [
      'an unverified address',
      { person: { id: 8, emails: [{ ...email, verified: false }] } },
      403,
      'verified',
    ],
    [
      'a primary address not let in',
      { person: { id: 8, emails: [{ ...email, email: 'eve@example.com' }] } },
      403,
      'may not sign in here',
    ],
    [
      'a second address that would be let in',
      { person: { id: 8, emails: [{ ...email, primary: false }] } },
      403,
      'address',
    ],
    ['nobody', { person: { id: 'x', emails: [email] } }, 502, 'who you are'],
  ];
  for (const [what, change, status, words] of refused) {
    it(`refuses ${what}`, async () => {
      Object.assign(ground.github, change);
      const answer = await signIn();
      expect(answer.status, answer.text).to.equal(status);
      expect(answer.text).to.include(words);
      expect(person.cookie('session')).to.equal(undefined);
    });
  }

  it('refuses a wrong state and a callback again', async () => {
    const { address } = await person.follow(START, /\/callback\?/u);
    const forged = address.replace(/state=[^&]*/u, `state=${'x'.repeat(43)}`);
    expect((await person.get(forged)).status).to.equal(400);
    expect((await person.get(address)).status).to.equal(400);
    const next = await person.follow(START, /\/callback\?/u);
    expect((await person.get(next.address)).status).to.equal(303);
    expect((await person.get(next.address)).status).to.equal(400);
  });

  it('says in the log what GitHub said, and no secret', () => {
    const told = ground.logged();
    expect(told).to.include('incorrect_client_credentials').and.include('access_denied');
    expect(told).not.to.include(ground.github.client_secret).and.not.include('gho_');
  });
});
