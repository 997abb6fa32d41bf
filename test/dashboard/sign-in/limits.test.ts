import { expect } from 'chai';
import { HERE, startSignInGateway, type SignInGateway } from './helpers/sign-in-gateway.js';

describe('the limit on sign-ins', () => {
  let ground: SignInGateway;
  before(async () => {
    const yaml = 'limits: { sign_ins: 5 }\ntrusted_proxies: [127.0.0.1]\n';
    ground = await startSignInGateway({ yaml });
  });
  after(() => ground.close());
  beforeEach(() => {
    ground.now_ms += 60_000;
  });

  const from = (address: string): RequestInit => ({ headers: { 'x-forwarded-for': address } });

  for (const path of ['/sign-in/acme', '/sign-in/hub/callback?code=x', '/sign-in/link?token=x']) {
    it(`holds for ${path}`, async () => {
      const person = ground.person();
      for (let times = 0; times < 5; times++) {
        expect((await person.get(path, from('192.0.2.1'))).status).to.be.oneOf([303, 400]);
      }
      const refused = await person.get(path, from('192.0.2.1'));
      expect(refused.status).to.equal(429);
      expect(refused.headers.get('retry-after')).to.equal('12');
      expect(refused.text).to.include('Too many sign-ins from your address');
      expect((await person.get(path, from('192.0.2.2'))).status).not.to.equal(429);
      ground.now_ms += 12_000;
      expect((await person.get(path, from('192.0.2.1'))).status).not.to.equal(429);
    });
  }

  it('counts all ways together, and IPv6 neighbours as one', async () => {
    const paths = ['/sign-in/acme', '/sign-in/link', '/sign-in/hub', '/sign-in/acme/callback'];
    for (const [i, path] of [...paths, '/sign-in/hub'].entries()) {
      await ground.person().get(path, from(`2001:db8::${i}`));
    }
    const neighbour = await ground.person().get('/sign-in/hub', from('2001:db8::ffff'));
    expect(neighbour.status).to.equal(429);
    const other = await ground.person().get('/sign-in/hub', from('2001:db8:0:1::'));
    expect(other.status).to.equal(303);
  });

  it('does not come from what a client claims in vain', async () => {
    for (let times = 0; times < 5; times++) {
      await ground.person().get('/sign-in/hub', from(`198.51.100.${times}, 203.0.113.9`));
    }
    expect((await ground.person().get('/sign-in/hub', from('203.0.113.9'))).status).to.equal(429);
  });

  it('lets who is in go on', async () => {
    const person = ground.person();
    const back = await person.signIn('/sign-in/acme', 'ada');
    expect(back).to.include({ status: 303, location: `${HERE}/` });
    for (let times = 0; times < 20; times++) {
      expect((await person.get('/api/account')).status).to.equal(200);
    }
  });
});
