import { expect } from 'chai';
import { CookieClient } from '../../helpers/cookie-client.js';
import { HERE, startSignInGateway, type SignInGateway } from './helpers/sign-in-gateway.js';

const START = '/sign-in/acme';

describe('a sign-in with a third party', () => {
  let ground: SignInGateway;
  let person: CookieClient;
  before(async () => {
    ground = await startSignInGateway();
  });
  after(() => ground.close());
  beforeEach(() => {
    ground.now_ms += 60_000;
    person = ground.person();
  });

  const balance = async (name: string): Promise<bigint | undefined> =>
    (await ground.gateway.gateway.store.account(name))?.balance_nano;

  it('sends the browser to the provider with proofs of its own', async () => {
    const { location, status } = await person.get(`${START}?return_to=/usage`);
    expect(status).to.equal(303);
    const url = new URL(location);
    const asked = Object.fromEntries(url.searchParams);
    expect(url.origin).to.equal(ground.openid.issuer);
    expect(asked).to.include({
      client_id: 'tollgate',
      response_type: 'code',
      redirect_uri: `${HERE}/sign-in/acme/callback`,
      scope: 'openid email',
      code_challenge_method: 'S256',
    });
    const proofs = [asked.state, asked.nonce, asked.code_challenge];
    for (const proof of proofs) expect(proof).to.match(/^[\w-]{43}$/u);
    const again = new URL((await ground.person().get(START)).location).searchParams;
    expect(proofs).not.to.include.members([again.get('state')]);
    expect(person.set).to.deep.equal([
      `sign_in=${person.cookie('sign_in')}; Path=/sign-in; Max-Age=600; HttpOnly; SameSite=Lax; Secure`,
    ]);
  });

  it('lets somebody in, with an account and credit for a newcomer', async () => {
    const answer = await person.signIn(`${START}?return_to=%2Fusage%3Fby%3Dday`, 'ada');
    expect(answer.status, answer.text).to.equal(303);
    expect(answer.location).to.equal(`${HERE}/usage?by=day`);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(person.set.slice(1)).to.deep.equal([
      'sign_in=; Path=/sign-in; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
      `session=${person.cookie('session')}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure`,
    ]);
    expect(await balance('ada@example.org')).to.equal(1_000_000_000n);
    await ground.person().signIn(START, 'ada');
    expect(await balance('ada@example.org')).to.equal(1_000_000_000n);
    expect(ground.logged()).to.include('"newcomer":true').and.include('"newcomer":false');
  });

  it('takes a plain address for what it is', async () => {
    const plain = await startSignInGateway({ public_url: 'http://127.0.0.1:8080' });
    const visitor = plain.person();
    const answer = await visitor.signIn(START, 'ada');
    expect(answer.location).to.equal('http://127.0.0.1:8080/');
    expect(visitor.set.join('\n')).not.to.include('Secure');
    expect(visitor.set.at(-1)).to.match(/^session=[\w-]{43}; Path=\/; .*HttpOnly; SameSite=Lax$/u);
    await plain.close();
  });

  it('makes one account of newcomers at the same instant, and credits it once', async () => {
    ground.openid.people.many = { email: 'many@example.org', email_verified: true };
    const all = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const one = ground.person();
        return { one, callback: await one.callback(START, 'many') };
      }),
    );
    const answers = await Promise.all(all.map(({ one, callback }) => one.get(callback)));
    expect(answers.map(({ status }) => status)).to.deep.equal([303, 303, 303, 303]);
    expect(await balance('many@example.org')).to.equal(1_000_000_000n);
  });

  it('goes nowhere but to a page of this site', async () => {
    for (const evil of ['//evil.example', '/\\evil.example', 'https:evil.example', '/%5cx/..//e']) {
      const answer = await person.signIn(`${START}?return_to=${encodeURIComponent(evil)}`, 'ada');
      expect(new URL(answer.location).origin, evil).to.equal(HERE);
    }
    const twice = await person.signIn(`${START}?return_to=/usage&return_to=//evil.example`, 'ada');
    expect(twice.location).to.equal(`${HERE}/`);
  });

  it('leaves a sign-in under way to him who only looks', async () => {
    const callback = await person.callback(START, 'ada');
    expect(await person.get(callback, { method: 'HEAD' })).to.include({ status: 204 });
    expect(await person.get(START, { method: 'HEAD' })).to.include({ status: 204 });
    expect(await person.get(callback)).to.include({ status: 303 });
  });

  const refused = async (
    callback: string,
    by: CookieClient = person,
    status = 400,
  ): Promise<void> => {
    const answer = await by.get(callback);
    expect(answer.status, answer.text).to.equal(status);
    expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(by.cookie('session')).to.equal(undefined);
    expect(by.cookie('sign_in')).to.equal(undefined);
  };
  const altered = (address: string, changes: Record<string, string | undefined>): string => {
    const url = new URL(address);
    for (const [key, value] of Object.entries(changes)) {
      if (value === undefined) url.searchParams.delete(key);
      else url.searchParams.set(key, value);
    }
    return url.href;
  };

  it('refuses a wrong state, and a state twice', async () => {
    const callback = await person.callback(START, 'ada');
    await refused(altered(callback, { state: 'x'.repeat(43) }));
    await refused(callback);
    await refused(altered(await person.callback(START, 'ada'), { state: undefined }));
    await refused(`${await person.callback(START, 'ada')}&state=x`);
  });

  it('refuses a wrong nonce', async () => {
    const { location } = await person.get(START);
    const page = await person.follow(altered(location, { nonce: 'another' }));
    await refused(await person.come(page.address, 'ada'));
    expect(ground.logged()).to.include('OAUTH_JWT_CLAIM_COMPARISON_FAILED');
  });

  it('refuses a challenge that is not its own', async () => {
    const { location } = await person.get(START);
    const page = await person.follow(altered(location, { code_challenge: 'y'.repeat(43) }));
    await refused(await person.come(page.address, 'ada'));
  });

  it('refuses a callback again, and its code in another sign-in', async () => {
    const callback = await person.callback(START, 'ada');
    expect(await person.get(callback)).to.include({ status: 303 });
    const other = ground.person();
    await refused(callback, other);
    const next = await other.callback(START, 'grace');
    const code = new URL(callback).searchParams.get('code') ?? '';
    await refused(altered(next, { code }), other);
    expect(ground.logged()).to.include('invalid_grant');
  });

  it("refuses another browser's callback, also to one that signs in itself", async () => {
    const callback = await person.callback(START, 'ada');
    await refused(callback, ground.person());
    const other = ground.person();
    await other.get(START);
    await refused(callback, other);
    expect(await person.get(callback)).to.include({ status: 303 });
  });

  it("refuses another provider's callback", async () => {
    const callback = await person.callback(START, 'ada');
    await refused(altered(callback.replace('/acme/', '/hub/'), { iss: undefined }));
    // Not even asked: it would learn a code that another has given out.
    expect(ground.github.asked).to.deep.equal([]);
  });

  it('refuses an answer of another issuer, and one without a code', async () => {
    const callback = await person.callback(START, 'ada');
    await refused(altered(callback, { iss: 'https://evil.example' }));
    await refused(altered(await person.callback(START, 'ada'), { code: undefined }));
    await refused(altered(await person.callback(START, 'ada'), { code: 'made-up' }));
  });

  it('refuses a cookie that is none of ours', async () => {
    for (const value of ['x', 'a'.repeat(43), `${'a'.repeat(42)}'`]) {
      const callback = await person.callback(START, 'ada');
      person.put('sign_in', value, '/sign-in');
      expect((await person.get(callback)).status).to.equal(400);
    }
  });

  it('refuses one that took too long', async () => {
    const callback = await person.callback(START, 'ada');
    ground.now_ms += 600_000;
    await refused(callback);
  });

  it('tells who declined so', async () => {
    await refused(await person.callback(START, ''), person, 403);
    expect(ground.logged()).to.include('"reason":"access_denied"');
  });

  const people: [what: string, person: object, words: string][] = [
    ['an unverified address', { email: 'eve@example.org', email_verified: false }, 'verified'],
    ['an address nobody speaks for', { email: 'eve@example.org' }, 'verified'],
    ['no address', {}, 'address'],
    ['an address that is none', { email: 'a@b@example.org', email_verified: true }, 'address'],
    [
      'an address not let in',
      { email: 'eve@example.com', email_verified: true },
      'may not sign in here',
    ],
    ['a subdomain', { email: 'eve@sub.example.org', email_verified: true }, 'may not sign in here'],
    [
      'a longer domain',
      { email: 'eve@evilexample.org', email_verified: true },
      'may not sign in here',
    ],
  ];
  for (const [what, told, words] of people) {
    it(`refuses ${what}`, async () => {
      ground.openid.people.eve = told;
      const before = (await ground.gateway.gateway.store.accounts()).length;
      const answer = await person.signIn(START, 'eve');
      expect(answer.status, answer.text).to.equal(403);
      expect(answer.text).to.include(words);
      expect(person.cookie('session')).to.equal(undefined);
      expect(await ground.gateway.gateway.store.accounts()).to.have.length(before);
    });
  }

  it('lets nobody into the account of an address that another source has verified', async () => {
    await ground.person().signIn(START, 'grace');
    ground.openid.people.mixed = {
      email: 'grace@example.org',
      userinfo: { email: 'mallory@example.org', email_verified: true },
    };
    expect((await person.signIn(START, 'mixed')).status).to.equal(303);
    const session = person.cookie('session') ?? '';
    const { sign_in } = ground.gateway.gateway.store;
    const limits = { idle_ms: 1e9, lifetime_ms: 1e9 };
    expect((await sign_in.session(session, limits))?.email).to.equal('mallory@example.org');
  });

  it('lets nobody in by a verification that belongs to another address', async () => {
    ground.openid.people.half = {
      email_verified: true,
      userinfo: { email: 'grace@example.org' },
    };
    const answer = await person.signIn(START, 'half');
    expect([answer.status, answer.text.includes('verified')]).to.deep.equal([403, true]);
  });

  it('lets nobody into the account of an address that only looks the same', async () => {
    ground.openid.people.kate = { email: 'KATE@example.org', email_verified: true };
    ground.openid.people.kelvin = { email: '\u212Aate@example.org', email_verified: true };
    await ground.person().signIn(START, 'kate');
    await person.signIn(START, 'kelvin');
    const names = (await ground.gateway.gateway.store.accounts()).map(({ name }) => name);
    expect(names).to.include('kate@example.org').and.include('\u212Aate@example.org');
  });

  it('takes a verification that is written as text', async () => {
    ground.openid.people.text = { email: 'text@example.org', email_verified: 'true' };
    expect((await person.signIn(START, 'text')).status).to.equal(303);
  });

  it('knows nothing of a provider that the file does not name', async () => {
    for (const path of ['/sign-in/evil', '/sign-in/evil/callback?code=x', '/sign-in/ACME']) {
      expect((await person.get(path)).status).to.equal(404);
    }
  });

  it('keeps its secrets out of pages, redirects and the log', () => {
    const told = ground.logged();
    expect(told).not.to.include(ground.openid.client_secret);
    expect(told).not.to.match(/code=|[\w-]{43}/u);
  });
});

describe('a sign-in with a misbehaving third party', () => {
  let ground: SignInGateway;
  beforeEach(async () => {
    ground = await startSignInGateway();
  });
  afterEach(() => ground.close());

  it('is asked what it is once, by many at once, and again after an hour', async () => {
    const discovery = (): number =>
      ground.openid.asked.filter((path) => path.includes('.well-known')).length;
    await Promise.all(Array.from({ length: 10 }, () => ground.person().get(START)));
    expect(discovery()).to.equal(1);
    ground.now_ms += 3_600_000;
    await ground.person().get(START);
    expect(discovery()).to.equal(2);
  });

  it('is asked anew what it is when a sign-in fails there', async () => {
    const person = ground.person();
    const callback = await person.callback(START, 'ada');
    ground.openid.down = true;
    expect((await person.get(callback)).status).to.equal(502);
    ground.openid.down = false;
    expect((await person.get(START)).status).to.equal(303);
    const discoveries = ground.openid.asked.filter((path) => path.includes('.well-known'));
    expect(discoveries).to.have.length(2);
  });

  it('is told to be down, and asked anew when it is back', async () => {
    ground.openid.down = true;
    const person = ground.person();
    const answer = await person.get(START);
    expect(answer.status).to.equal(502);
    expect(answer.text).to.include('Acme ID could not sign you in just now');
    expect(person.set).to.deep.equal([]);
    ground.openid.down = false;
    expect((await person.signIn(START, 'ada')).status).to.equal(303);
    const callback = await person.callback(START, 'ada');
    ground.openid.down = true;
    expect((await person.get(callback)).status).to.equal(502);
    ground.openid.down = false;
    expect((await person.signIn(START, 'ada')).status).to.equal(303);
  });

  it('is not believed when it claims to be another', async () => {
    const { issuer } = ground.openid;
    ground.openid.tamper = (_path, body) =>
      body.replaceAll(`"${issuer}"`, '"https://evil.example"');
    expect((await ground.person().get(START)).status).to.equal(502);
  });

  it('is not believed what it has not signed', async () => {
    ground.openid.tamper = (path, body) => {
      if (path !== '/token') return body;
      const answer = JSON.parse(body) as { id_token: string };
      const [head = '', claims = ''] = answer.id_token.split('.');
      return JSON.stringify({ ...answer, id_token: `${head}.${claims}.${'A'.repeat(342)}` });
    };
    const person = ground.person();
    expect((await person.signIn(START, 'ada')).status).to.be.oneOf([400, 502]);
    expect(person.cookie('session')).to.equal(undefined);
  });

  it('is taken no more than a megabyte from', async () => {
    ground.openid.tamper = (path, body) =>
      path === '/token' ? `${body}${' '.repeat(2_000_000)}` : body;
    expect((await ground.person().signIn(START, 'ada')).status).to.equal(502);
  });

  it('may tell the address apart from the ID token', async () => {
    const other = await startSignInGateway({ openid: { userinfo: true } });
    expect((await other.person().signIn(START, 'ada')).status).to.equal(303);
    expect(other.openid.asked).to.include('/me');
    await other.close();
  });

  it('may be trusted with addresses, but not with those it calls unverified', async () => {
    const other = await startSignInGateway({ acme: ', trust_email: true' });
    other.openid.people.silent = { email: 'silent@example.org' };
    other.openid.people.false = { email: 'false@example.org', email_verified: false };
    expect((await other.person().signIn(START, 'silent')).status).to.equal(303);
    expect((await other.person().signIn(START, 'false')).status).to.equal(403);
    await other.close();
  });

  it('may know the gateway without a secret', async () => {
    const other = await startSignInGateway({ openid: { public: true } });
    expect((await other.person().signIn(START, 'ada')).status).to.equal(303);
    await other.close();
  });
});
