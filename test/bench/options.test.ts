import { expect } from 'chai';
import { readOptions } from './options.js';
import { title } from './turns.js';

describe('the options of the bench', () => {
  const titles = (...argv: string[]) => readOptions(argv).works.map(title);

  it('measure small calls, streams and memory by default', () => {
    expect(titles('--quick', '--connections', '64')).to.deep.equal([
      'json at 64',
      'stream at 64',
      'long at 64',
      'burst at 64',
    ]);
    expect(readOptions([]).rss_requests).to.equal(100_000);
  });

  it('measure whole answers alone where a turn, a format or a rate is chosen', () => {
    expect(titles('--body', '200k', '--connections', '16')).to.deep.equal(['json 200k at 16']);
    expect(titles('--rate', '60')).to.deep.equal(['json at 16, 60 a second']);
    expect(titles('--body', '2M', '--format', 'messages,chat', '--connections', '1')).to.deep.equal(
      ['json 2048k messages at 1', 'json 2048k at 1'],
    );
    expect(titles('--format', 'chat', '--upstream-format', 'messages', '--quick')).to.deep.equal([
      'json to messages at 1',
      'json to messages at 64',
    ]);
    expect(readOptions(['--body', '200k']).rss_requests).to.equal(0);
  });

  it('take gateways that run, each with its headers and process', () => {
    const { peers } = readOptions([
      '--upstream-port',
      '9100',
      '--beside-url',
      'hub=http://127.0.0.1:3000/api',
      '--beside-header',
      'hub=authorization: Bearer a=b',
      '--beside-header',
      'hub=x-a: 1',
      '--beside-url',
      'lite=http://127.0.0.1:4000',
      '--beside-pid',
      `hub=${process.pid}`,
    ]);
    expect(peers).to.deep.equal([
      {
        name: 'hub',
        base: new URL('http://127.0.0.1:3000/api'),
        headers: { authorization: 'Bearer a=b', 'x-a': '1' },
        pid: process.pid,
      },
      { name: 'lite', base: new URL('http://127.0.0.1:4000'), headers: {}, pid: undefined },
    ]);
  });

  const url = ['--beside-url', 'hub=http://127.0.0.1:3000'];
  const refused: Record<string, string[]> = {
    'sizes such as 200k or 2m, from 32k': ['--body', '200x'],
    'from 32k': ['--body', '1k'],
    'some of chat, messages, responses': ['--format', 'gemini'],
    'a whole number above zero': ['--connections', '1.5'],
    'a number above zero': ['--rate', '0'],
    'a checkout that was built': ['--beside', '/nowhere'],
    'with an http: address': ['--beside-url', 'hub=https://127.0.0.1'],
    'NAME=VALUE': ['--beside-url', 'http://127.0.0.1'],
    'needs --upstream-port': url,
    'two --beside-url': [...url, ...url, '--upstream-port', '9100'],
    'lite has no --beside-url; those that have one: hub': [
      ...url,
      '--upstream-port',
      '9100',
      '--beside-header',
      'lite=authorization: x',
    ],
    'such as "hub=authorization: Bearer KEY"': ['--beside-header', 'hub=authorization'],
    'no process 4194304 runs here': ['--beside-pid', 'hub=4194304'],
    '--only stream goes with no --format': ['--only', 'stream', '--format', 'messages'],
    '--only rss makes small calls': ['--only', 'rss', '--body', '200k'],
    '--rss-requests goes with --only rss': ['--only', 'json', '--rss-requests', '9'],
  };
  for (const [complaint, argv] of Object.entries(refused)) {
    it(`are refused: ${argv.join(' ')}`, () => {
      expect(() => readOptions(argv)).to.throw(complaint);
    });
  }
});
