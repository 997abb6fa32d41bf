import { expect } from 'chai';
import { HERE, startSignInGateway, type SignInGateway } from './helpers/sign-in-gateway.js';

describe('a sign-in link', () => {
  let ground: SignInGateway;
  before(async () => {
    ground = await startSignInGateway();
  });
  after(() => ground.close());
  beforeEach(() => {
    ground.now_ms += 60_000;
  });

  const link = async (operator = false): Promise<string> => {
    const { gateway, account } = ground.gateway;
    const options = { operator, lifetime_ms: 600_000 };
    const { secret } = await gateway.store.sign_in.createLink(account.id, options);
    return `/sign-in/link?token=${secret}`;
  };

  it('signs in, once', async () => {
    const address = await link();
    const person = ground.person();
    const answer = await person.get(address);
    expect(answer.status).to.equal(303);
    expect(answer.location).to.equal(`${HERE}/`);
    expect(person.set).to.deep.equal([
      `session=${person.cookie('session')}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure`,
    ]);
    expect((await person.get('/api/account')).status).to.equal(200);
    const other = ground.person();
    expect((await other.get(address)).status).to.equal(400);
    expect(other.cookie('session')).to.equal(undefined);
  });

  it('makes an operator only where it was made to', async () => {
    const [plain, operator] = [ground.person(), ground.person()];
    await plain.get(await link());
    await operator.get(await link(true));
    expect((await plain.get('/api/accounts')).status).to.equal(403);
    expect((await operator.get('/api/accounts')).status).to.equal(200);
  });

  it('lets one in of many at once', async () => {
    const address = await link();
    const all = await Promise.all([1, 2, 3, 4].map(() => ground.person().get(address)));
    expect(all.map(({ status }) => status)).to.have.members([303, 400, 400, 400]);
  });

  it('is not used up by who only looks', async () => {
    const address = await link();
    const looks: RequestInit[] = [
      { method: 'HEAD' },
      { headers: { 'sec-purpose': 'prefetch' } },
      { headers: { 'sec-purpose': 'prefetch;prerender' } },
      { headers: { purpose: 'prefetch' } },
      { headers: { 'x-moz': 'prefetch' } },
    ];
    for (const look of looks) {
      const person = ground.person();
      expect((await person.get(address, look)).status).to.equal(204);
      expect(person.set).to.deep.equal([]);
    }
    expect((await ground.person().get(address)).status).to.equal(303);
  });

  it('is refused in the same words whatever is wrong with it', async () => {
    const used = await link();
    await ground.person().get(used);
    const overdue = await link();
    ground.now_ms += 600_000;
    const wrong = [
      used,
      overdue,
      `/sign-in/link?token=${'a'.repeat(43)}`,
      '/sign-in/link?token=short',
      '/sign-in/link?token=',
      '/sign-in/link',
      `${await link()}&token=x`,
      `/sign-in/link?token=${'x'.repeat(5_000)}`,
      "/sign-in/link?token=' or 1=1 --",
    ];
    const pages = new Set<string>();
    for (const address of wrong) {
      const { status, text, headers } = await ground.person().get(address);
      expect(status, address).to.equal(400);
      pages.add(text.replaceAll(headers.get('x-request-id') ?? 'none', ''));
    }
    expect([...pages]).to.have.length(1);
  });

  it('does not come to the log', () => {
    expect(ground.logged()).not.to.match(/token=|[\w-]{43}/u);
  });
});
