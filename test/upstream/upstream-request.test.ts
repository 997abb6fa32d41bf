import { expect } from 'chai';
import type { WireReply } from '../../src/core/provider.js';
import { readJson, readText } from '../../src/upstream/upstream-request.js';
import { each } from '../helpers/packets.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

function answer(...texts: string[]): WireReply {
  return { status: 200, headers: {}, body: each(texts.map((text) => Buffer.from(text))) };
}

describe('readJson', () => {
  const readable: [string, string[], unknown][] = [
    ['JSON', ['{"a":1}'], { a: 1 }],
    ['JSON in pieces', ['{"a":', '"ü"}'], { a: 'ü' }],
    ['JSON after blank lines', ['\n\n', '\r\n', '\n{"a":1}'], { a: 1 }],
    ['JSON after a byte order mark', ['\u{feff}{"a":1}'], { a: 1 }],
    ['JSON that is no object', ['null'], null],
  ];
  for (const [what, texts, value] of readable) {
    it(`reads ${what}`, async () => {
      expect(await readJson(answer(...texts), 100)).to.deep.equal(value);
    });
  }

  const unreadable: [string, string[], string][] = [
    ['empty', [], "The upstream's answer is empty."],
    ['blank', ['\n\n'], "The upstream's answer is empty."],
    ['HTML', ['<html>Bad gateway</html>'], "The upstream's answer is not JSON."],
    ['cut short', ['{"a":'], "The upstream's answer is not JSON."],
    ['too large', ['"', 'x'.repeat(100), '"'], "The upstream's answer is larger than 100 bytes."],
  ];
  for (const [what, texts, message] of unreadable) {
    it(`fails for a body that is ${what}`, async () => {
      const error = await readJson(answer(...texts), 100).catch((e: unknown) => e);
      expect(error).to.be.instanceOf(UpstreamError).that.includes({ fault: 'broken', message });
    });
  }
});

describe('readText', () => {
  it('reads no further than the limit', async () => {
    expect(await readText(answer('abc', 'def', 'ghi'), 5)).to.equal('abcde');
  });

  it('returns the bytes that came before the body broke', async () => {
    const body = (async function* () {
      yield Buffer.from('{"error":');
      throw new UpstreamError('broken', 'cut');
    })();
    expect(await readText({ status: 500, headers: {}, body }, 100)).to.equal('{"error":');
  });
});
