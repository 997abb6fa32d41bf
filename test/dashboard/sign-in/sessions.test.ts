import { expect } from 'chai';
import type { CookieClient } from '../../helpers/cookie-client.js';
import { HERE, startSignInGateway, type SignInGateway } from './helpers/sign-in-gateway.js';

const HOUR_MS = 3_600_000;
const START = '/sign-in/acme';

describe('a session', () => {
  let ground: SignInGateway;
  let person: CookieClient;
  beforeEach(async () => {
    ground = await startSignInGateway();
    person = ground.person();
  });
  afterEach(() => ground.close());

  const isIn = async (who: CookieClient = person): Promise<boolean> => {
    const { status } = await who.get('/api/account');
    expect(status).to.be.oneOf([200, 401]);
    return status === 200;
  };
  /** Somebody who holds the cookie that another has now. */
  const thief = (from: CookieClient = person): CookieClient => {
    const stolen = ground.person();
    stolen.put('session', from.cookie('session') ?? '');
    return stolen;
  };

  it('changes with each sign-in: the older one of that browser is over', async () => {
    await person.signIn(START, 'ada');
    const [first, held] = [person.cookie('session'), thief()];
    await person.signIn(START, 'grace');
    expect(person.cookie('session')).not.to.equal(first);
    expect(await isIn()).to.equal(true);
    expect(await isIn(held)).to.equal(false);
  });

  it('is not one that somebody else has laid into the browser', async () => {
    const laid = 'a'.repeat(43);
    person.put('session', laid);
    await person.signIn(START, 'ada');
    expect(person.cookie('session')).not.to.equal(laid);
    const other = ground.person();
    other.put('session', laid);
    expect(await isIn(other)).to.equal(false);
  });

  it('ends unused after twelve hours, and used after thirty days', async () => {
    await person.signIn(START, 'ada');
    ground.now_ms += 12 * HOUR_MS - 1;
    expect(await isIn()).to.equal(true);
    ground.now_ms += 12 * HOUR_MS + 60_000;
    expect(await isIn()).to.equal(false);
    await person.signIn(START, 'ada');
    let hours = 0;
    while (await isIn()) {
      ground.now_ms += 6 * HOUR_MS;
      hours += 6;
    }
    expect(hours).to.equal(720);
  });

  it('lasts as long as the present file says', async () => {
    await person.signIn(START, 'ada');
    ground.now_ms += 2 * HOUR_MS;
    expect(await isIn()).to.equal(true);
    ground.now_ms += 2 * HOUR_MS;
    await ground.signIn("  allow: ['@example.org']\n  session: { idle: 1h }\n");
    expect(await isIn()).to.equal(false);
  });

  it('ends with the sign-out, and the others of the account only everywhere', async () => {
    const other = ground.person();
    const stranger = ground.person();
    await person.signIn(START, 'ada');
    await other.signIn(START, 'ada');
    await stranger.signIn(START, 'grace');
    const held = thief();
    const answer = await person.send('/sign-out');
    expect(answer).to.include({ status: 303, location: `${HERE}/sign-in` });
    expect(answer.headers.getSetCookie()).to.deep.equal([
      'session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect(await isIn(held)).to.equal(false);
    expect(await isIn(other)).to.equal(true);
    await person.signIn(START, 'ada');
    expect((await person.send('/sign-out/everywhere')).status).to.equal(303);
    expect(await isIn(other)).to.equal(false);
    expect(await isIn(stranger)).to.equal(true);
  });

  it('takes a sign-out from nobody, and none everywhere', async () => {
    expect((await person.send('/sign-out')).status).to.equal(303);
    expect((await person.send('/sign-out/everywhere')).status).to.equal(401);
  });

  it('is over for whom the edited file no longer lets in, from the next request on', async () => {
    const [ada, grace, guest] = [person, ground.person(), ground.person()];
    await ada.signIn(START, 'ada');
    await grace.signIn(START, 'grace');
    const { gateway, account } = ground.gateway;
    const options = { operator: false, lifetime_ms: 1000 };
    const { secret } = await gateway.store.sign_in.createLink(account.id, options);
    await guest.get(`/sign-in/link?token=${secret}`);
    await ground.signIn('  allow: [grace@example.org]\n');
    expect(await Promise.all([ada, grace, guest].map(isIn))).to.deep.equal([false, true, true]);
  });

  it('is over when the file no longer names who vouched for it', async () => {
    await person.signIn(START, 'ada');
    const other = "    other: { issuer: 'https://id.example.org', client_id: me }";
    await ground.signIn("  allow: ['@example.org']\n", other);
    expect(await isIn()).to.equal(false);
  });

  it('makes an operator of whom the present file names', async () => {
    await person.signIn(START, 'ada');
    expect((await person.get('/api/accounts')).status).to.equal(200);
    await ground.signIn("  allow: ['@example.org']\n  operators: [grace@example.org]\n");
    expect((await person.get('/api/accounts')).status).to.equal(403);
    expect(await isIn()).to.equal(true);
  });

  it('writes for pages of this site only', async () => {
    await person.signIn(START, 'ada');
    const name = JSON.stringify({ name: 'k' });
    const post = (headers: Record<string, string>): Promise<number> =>
      person
        .get('/api/keys', {
          method: 'POST',
          body: name,
          headers: { 'content-type': 'application/json', ...headers },
        })
        .then(({ status }) => status);
    expect(await post({ origin: 'https://evil.example' })).to.equal(403);
    expect(await post({ origin: ground.gateway.url })).to.equal(403);
    expect(await post({})).to.equal(403);
    expect(await post({ 'sec-fetch-site': 'cross-site' })).to.equal(403);
    const { store } = ground.gateway.gateway;
    const { id = '' } = (await store.account('ada@example.org')) ?? {};
    expect(await store.keys(id)).to.deep.equal([]);
    const { key } = await store.createKey(id, 'mine');
    const remove = (origin: string): Promise<number> =>
      person.send(`/api/keys/${key.id}`, 'DELETE', { origin }).then(({ status }) => status);
    expect(await remove('https://evil.example')).to.equal(403);
    expect((await person.send('/sign-out', 'POST', { origin: 'null' })).status).to.equal(403);
    expect(await isIn()).to.equal(true);
    expect(await remove(HERE)).to.equal(204);
  });
});

describe('a cookie of a session', () => {
  it('is sent over https only where people come by https', async () => {
    for (const [public_url, secure] of [
      ['http://127.0.0.1:8080', false],
      ['https://ai.example.org', true],
    ] as const) {
      const ground = await startSignInGateway({ public_url });
      const person = ground.person();
      await person.signIn(START, 'ada');
      const cookies = person.set.filter((line) => /^(session|sign_in)=/u.test(line));
      expect(cookies).to.have.length(3);
      for (const line of cookies) {
        expect(line).to.include('; HttpOnly; SameSite=Lax');
        expect(line.endsWith('; Secure')).to.equal(secure);
      }
      await ground.close();
    }
  });
});
