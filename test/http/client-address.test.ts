import { expect } from 'chai';
import type { IncomingMessage } from 'node:http';
import { addressReader } from '../../src/http/client-address.js';

const ask = (remoteAddress: string | undefined, forwarded?: string | string[]): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the client address for rate limits', () => {
  const trusting = addressReader(['127.0.0.1', '10.0.0.0/8', 'fd00::/8']);
  const alone = addressReader([]);

  const cases: [what: string, address: string, request: IncomingMessage, reader?: typeof alone][] =
    [
      ['its own', '192.0.2.1', ask('192.0.2.1'), alone],
      ['its own, whatever it claims', '127.0.0.1', ask('127.0.0.1', '192.0.2.1'), alone],
      ['its own, not from a proxy', '192.0.2.9', ask('192.0.2.9', '198.51.100.1')],
      ['IPv4 in IPv6', '192.0.2.1', ask('::ffff:192.0.2.1'), alone],
      ['what the proxy says', '192.0.2.1', ask('127.0.0.1', '192.0.2.1')],
      ['what the proxy says, not the client', '192.0.2.1', ask('127.0.0.1', '1.1.1.1, 192.0.2.1')],
      [
        'the last but trusted ones',
        '192.0.2.1',
        ask('::ffff:127.0.0.1', '8.8.8.8,192.0.2.1,10.1.1.1'),
      ],
      ['the first where all are trusted', '10.0.0.7', ask('127.0.0.1', '10.0.0.7, 10.0.0.8')],
      ['of many headers', '192.0.2.1', ask('127.0.0.1', ['1.1.1.1', '192.0.2.1'])],
      ['without its port', '192.0.2.1', ask('127.0.0.1', '192.0.2.1:5555')],
      ['without brackets', '2001:db8:0:0::/64', ask('127.0.0.1', '[2001:db8::1]:5555')],
      ['the proxy where nothing was said', '127.0.0.1', ask('127.0.0.1')],
      ['the proxy where nonsense was said', '127.0.0.1', ask('127.0.0.1', 'unknown')],
      ['what stands behind nonsense', '10.0.0.9', ask('127.0.0.1', '192.0.2.1, <x>, 10.0.0.9')],
      ['of IPv6 the /64', '2001:db8:1:2::/64', ask('2001:db8:1:2:3:4:5:6'), alone],
      ['of IPv6 in short', '2001:db8:0:0::/64', ask('2001:0DB8::6'), alone],
      ['of IPv6 with a zone', 'fe80:0:0:0::/64', ask('fe80::1%eth0'), alone],
      ['of IPv6 here', '0:0:0:0::/64', ask('::1'), alone],
      ['of IPv6 by a proxy', '2001:db8:0:0::/64', ask('fd00::1', '2001:db8::1')],
      ['nothing on a socket that has none', '', ask(undefined), alone],
    ];
  for (const [what, address, request, reader = trusting] of cases) {
    it(`is ${what}`, () => expect(reader(request)).to.equal(address));
  }

  it('takes no time over a header without end', () => {
    const long = `${'10.0.0.1,'.repeat(5_000)}10.0.0.2`;
    expect(trusting(ask('127.0.0.1', long))).to.equal('10.0.0.1');
  });
});
