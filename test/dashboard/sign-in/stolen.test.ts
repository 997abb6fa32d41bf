import { expect } from 'chai';
import { hash } from 'node:crypto';
import { onEachStore } from '../../store/helpers/ground.js';
import { startSignInGateway, type SignInGateway } from './helpers/sign-in-gateway.js';

const TABLES = {
  sqlite: "select name from sqlite_master where type = 'table'",
  postgres:
    'select table_name as name from information_schema.tables where table_schema = current_schema()',
};

onEachStore('a stolen database', (stores) => {
  let ground: SignInGateway;
  /** Every value of every table, as one text. */
  let dump: string;
  const secrets = new Map<string, string>();

  beforeEach(async () => {
    const { place } = stores;
    ground = await startSignInGateway({ store: place.url });
    const { gateway, account, secret } = ground.gateway;
    secrets.set('an API key', secret);
    const person = ground.person();
    await person.signIn('/sign-in/acme', 'ada');
    secrets.set('a session', person.cookie('session') ?? '');
    const { location } = await person.get('/sign-in/acme');
    secrets.set('a sign-in under way', person.cookie('sign_in') ?? '');
    const asked = new URL(location).searchParams;
    for (const proof of ['state', 'nonce']) secrets.set(`its ${proof}`, asked.get(proof) ?? '');
    const options = { operator: true, lifetime_ms: 600_000 };
    const link = await gateway.store.sign_in.createLink(account.id, options);
    secrets.set('a link', link.secret);
    secrets.set("a client's secret", ground.openid.client_secret);
    const rows: unknown[] = [];
    for (const { name } of await place.sql(TABLES[place.dialect])) {
      rows.push(...(await place.sql(`select * from "${String(name)}"`)));
    }
    dump = rows.map((row) => JSON.stringify(row)).join('\n');
  });
  afterEach(() => ground.close());

  it('holds the hashes of what it must know', () => {
    for (const what of ['an API key', 'a session', 'a sign-in under way', 'a link']) {
      expect(dump, what).to.include(hash('sha256', secrets.get(what) ?? ''));
    }
  });

  it('holds nothing that lets anybody in', () => {
    for (const [what, secret] of secrets) {
      expect(secret.length, what).to.be.greaterThan(20);
      expect(dump, what).not.to.include(secret);
      expect(dump, what).not.to.include(Buffer.from(secret).toString('hex'));
    }
  });

  it('lets nobody in by what it holds', async () => {
    const hashes = [...new Set(dump.match(/\b[0-9a-f]{64}\b/gu))];
    expect(hashes.length).to.be.greaterThan(3);
    for (const held of hashes) {
      ground.now_ms += 60_000;
      for (const value of [held, Buffer.from(held, 'hex').toString('base64url')]) {
        const person = ground.person();
        person.put('session', value);
        person.put('sign_in', value, '/sign-in');
        expect((await person.get('/api/account')).status).to.equal(401);
        expect((await person.get(`/sign-in/link?token=${value}`)).status).to.equal(400);
        expect((await person.get('/sign-in/acme/callback?code=x&state=x')).status).to.equal(400);
        const bearer = { headers: { authorization: `Bearer ${value}` } };
        expect((await person.get('/v1/models', bearer)).status).to.equal(401);
      }
    }
  });
});
