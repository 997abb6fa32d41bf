import { expect } from 'chai';

/** What a person's browser has in front of it. */
export interface Seen {
  status: number;
  headers: Headers;
  text: string;
  /** Where a redirect leads, whole. */
  location: string;
}

interface Stored {
  value: string;
  path: string;
}

/**
 * Somebody with a browser of their own: cookies by host and path, and no redirect followed unless
 * told to. `public_url` is where they believe the gateway to be, `url` where it listens.
 */
export class CookieClient {
  readonly #cookies = new Map<string, Stored>();
  /** All that the gateway has asked it to keep, as it wrote it. */
  readonly set: string[] = [];

  constructor(
    private readonly public_url: string,
    /** Where what goes to `public_url` arrives: a balancer may choose another each time. */
    public url: string,
  ) {}

  cookie(name: string): string | undefined {
    return this.#cookies.get(`${new URL(this.public_url).host} ${name}`)?.value;
  }

  put(name: string, value: string, path = '/'): void {
    this.#cookies.set(`${new URL(this.public_url).host} ${name}`, { value, path });
  }

  async get(address: string, init: RequestInit = {}): Promise<Seen> {
    const at = new URL(address, this.public_url);
    const target = at.href.replace(new URL(this.public_url).origin, this.url);
    const headers = { cookie: this.#cookiesFor(at), ...(init.headers as object) };
    const response = await fetch(target, { redirect: 'manual', ...init, headers });
    for (const line of response.headers.getSetCookie()) this.#keep(at, line);
    const location = response.headers.get('location');
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? '' : new URL(location, at).href,
    };
  }

  /** As a form or script of the gateway's own pages does. */
  send(address: string, method = 'POST', headers: Record<string, string> = {}): Promise<Seen> {
    const { origin } = new URL(this.public_url);
    return this.get(address, { method, headers: { origin, ...headers } });
  }

  /** Follows redirects until a page is there, or an address that fits. */
  async follow(address: string, until: RegExp = /^$/u): Promise<{ seen: Seen; address: string }> {
    let here = address;
    for (let hops = 0; hops < 20; hops++) {
      const seen = await this.get(here);
      if (seen.location === '') return { seen, address: here };
      here = seen.location;
      if (until.test(here)) return { seen, address: here };
    }
    throw new Error(`Redirected without end, last to ${here}`);
  }

  /** Goes to an OpenID provider and answers with what it comes back with, not visited yet. */
  async callback(start: string, as: string): Promise<string> {
    const page = await this.follow(start);
    expect(page.seen.status, page.seen.text).to.equal(200);
    return this.come(page.address, as);
  }

  /** The same from the provider's own page on. */
  async come(page: string, as: string): Promise<string> {
    const { address } = await this.follow(`${page}?as=${as}`, /\/callback\?/u);
    return address;
  }

  /** The whole way in through an OpenID provider. */
  async signIn(start: string, as: string): Promise<Seen> {
    return this.get(await this.callback(start, as));
  }

  #cookiesFor({ host, pathname }: URL): string {
    return [...this.#cookies]
      .filter(([key, { path }]) => key.startsWith(`${host} `) && pathname.startsWith(path))
      .map(([key, { value }]) => `${key.slice(host.length + 1)}=${value}`)
      .join('; ');
  }

  #keep({ host }: URL, line: string): void {
    if (host === new URL(this.public_url).host) this.set.push(line);
    const [pair = '', ...attributes] = line.split(/; */u);
    const [name = '', value = ''] = pair.split(/=(.*)/su);
    const find = (key: string): string | undefined =>
      attributes.find((one) => one.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1);
    const gone = find('max-age') === '0' || Date.parse(find('expires') ?? '') < Date.now();
    if (gone) this.#cookies.delete(`${host} ${name}`);
    else this.#cookies.set(`${host} ${name}`, { value, path: find('path') ?? '/' });
  }
}
