import { expect } from 'chai';
import { makePlace, SIMULATED, type Place } from '../helpers/cli.js';

interface Printed {
  url: string;
  expires: string;
}

describe('tollgate sign-in-link, beside a running gateway', () => {
  let place: Place;
  let url: string;

  before(async () => {
    place = await makePlace(`${SIMULATED}public_url: https://gate.example.com/\n`);
    url = await place.begin('serve').url();
    await place.json('account', 'create', 'ann', '--credit', '1');
  });
  after(() => place.close());

  /** Follows a link as its browser would, but to where the gateway really is. */
  async function follow(link: string): Promise<{ status: number; cookie: string }> {
    const { pathname, search } = new URL(link);
    const response = await fetch(`${url}${pathname}${search}`, { redirect: 'manual' });
    const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
    return { status: response.status, cookie: cookies.join('; ') };
  }

  async function account(cookie: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`${url}/api/account`, { headers: { cookie } });
    return { status: response.status, text: await response.text() };
  }

  it('prints a link below public_url that signs in once, for ten minutes', async () => {
    const { url: link, expires } = await place.json<Printed>('sign-in-link', 'ann');
    expect(link).to.match(/^https:\/\/gate\.example\.com\/sign-in\/link\?token=[\w-]{43}$/u);
    expect(Date.parse(expires) - Date.now()).to.be.within(500_000, 600_000);
    const first = await follow(link);
    expect(first.status).to.equal(303);
    const signedIn = await account(first.cookie);
    expect(signedIn.status).to.equal(200);
    expect(signedIn.text).to.include('"ann"');
    expect((await follow(link)).status).to.equal(400);
  });

  it('signs in as operator only with --operator', async () => {
    const signIns: number[] = [];
    for (const more of [[], ['--operator']]) {
      const { url: link } = await place.json<Printed>('sign-in-link', 'ann', ...more);
      const { cookie } = await follow(link);
      const response = await fetch(`${url}/api/accounts`, { headers: { cookie } });
      signIns.push(response.status);
    }
    expect(signIns).to.deep.equal([403, 200]);
  });

  it('prints what the link does', async function () {
    const { stdout } = await place.tollgate('sign-in-link', 'ann', '--operator');
    expect(stdout).to.match(
      /^Open this within ten minutes to sign in to ann, as an operator\. .*\nhttps:\S+\n$/u,
    );
  });
});
