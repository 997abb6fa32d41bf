import { expect } from 'chai';
import fc from 'fast-check';
import { EventReader, type ServerSentEvent } from '../../src/upstream/sse.js';
import { inThreeWays, splitAt } from '../helpers/packets.js';
import { UpstreamError } from '../../src/core/upstream-error.js';

const LIMITS = { event_bytes: 100_000, stream_bytes: 1_000_000 };

function read(packets: readonly Uint8Array[], limits = LIMITS): (readonly ServerSentEvent[])[] {
  const reader = new EventReader(limits);
  return [...packets.map((packet) => reader.read(packet)), reader.finish()];
}

const event = (data: string, name?: string): ServerSentEvent => ({ event: name, data });

const STREAMS: [string, string, ServerSentEvent[]][] = [
  ['line feeds', 'data: one\n\ndata: two\n\n', [event('one'), event('two')]],
  ['carriage returns and line feeds', 'data: a\r\n\r\ndata: b\r\n\r\n', [event('a'), event('b')]],
  ['carriage returns alone', 'data: a\r\rdata: b\r\r', [event('a'), event('b')]],
  ['characters of many bytes', 'data: Grüße 🚂 日本\n\n', [event('Grüße 🚂 日本')]],
  ['data without a space', 'data:{"a":1}\n\ndata:  x\n\n', [event('{"a":1}'), event(' x')]],
  ['data of several lines', 'data: one\ndata: two\ndata:\n\n', [event('one\ntwo\n')]],
  ['a last event without a blank line', 'data: one\n\ndata: two', [event('one'), event('two')]],
  ['a last event with one line end', 'data: one\r\n', [event('one')]],
  ['comments', ': wait\n\ndata: one\n: wait\n\n: wait\n\n', [event('one')]],
  ['named events', 'event: error\ndata: {}\n\ndata: x\n\n', [event('{}', 'error'), event('x')]],
  ['fields it does not know', 'id: 7\nretry: 10\nfoo: bar\ndata: one\n\n', [event('one')]],
  ['an invisible space', 'data: a\n\ndata: \u{feff}b\n\n', [event('a'), event('\u{feff}b')]],
  ['a byte order mark', '\u{feff}data: one\n\n', [event('one')]],
  [
    'an error that is bare JSON',
    '{"error":{"code":500}}',
    [event('{"error":{"code":500}}', 'error')],
  ],
  [
    'a bare error of several lines after events',
    'data: one\r\n\r\n{\r\n  "error": {\r\n    "code": 499\r\n  }\r\n}\r\n',
    [event('one'), event('{\n  "error": {\n    "code": 499\n  }\n}', 'error')],
  ],
  ['a bare list of errors', '[{"error":{}}]\n', [event('[{"error":{}}]', 'error')]],
  ['bare JSON that is no error', 'data: one\n\n{"note":"hi"}\n', [event('one')]],
  ['a page of HTML', '<html>\n<body>Bad gateway</body>\n</html>', []],
  ['nothing', '', []],
];

describe('EventReader of server-sent events', () => {
  for (const [what, text, events] of STREAMS) {
    for (const [way, packets] of inThreeWays(text)) {
      it(`reads ${what}, ${way}`, async () => {
        expect(read(packets).flat()).to.deep.equal(events);
      });
    }
  }

  it('reads the same however the bytes are split', () => {
    const sound = STREAMS.filter(([what]) => !/bare|HTML|mark/u.test(what));
    const bytes = Buffer.from(sound.map(([, text]) => text).join('\n\n'));
    const whole = read([bytes]).flat();
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        expect(read(splitAt(bytes, cuts)).flat()).to.deep.equal(whole);
      }),
      { numRuns: 50 },
    );
  });

  it('gives the events of one packet together, and none for a packet that completes none', () => {
    const packets = ['data: 1\n\ndata: 2\n\nda', 'ta: 3', '\n\n'].map((text) => Buffer.from(text));
    const batches = read(packets);
    expect(batches.map((batch) => batch.map(({ data }) => data))).to.deep.equal([
      ['1', '2'],
      [],
      ['3'],
      [],
    ]);
  });

  const oversize: [string, string[]][] = [
    ['one endless line', Array.from({ length: 30 }, () => 'data: '.padEnd(50, 'x'))],
    ['endless lines of data', Array.from({ length: 30 }, () => 'data: '.padEnd(50, 'x') + '\n')],
    ['an endless bare text', ['{\n', ...Array.from({ length: 30 }, () => 'x'.repeat(50) + '\n')]],
  ];
  for (const [what, texts] of oversize) {
    it(`refuses an event that is ${what}`, () => {
      const packets = texts.map((text) => Buffer.from(text));
      expect(() => read(packets, { ...LIMITS, event_bytes: 1_000 }))
        .to.throw(UpstreamError, 'over 1000 bytes')
        .with.property('fault', 'broken');
    });
  }

  it('refuses a stream that never ends', () => {
    const packets = Array.from({ length: 30 }, () => Buffer.from(': '.padEnd(50, 'x') + '\n'));
    expect(() => read(packets, { ...LIMITS, stream_bytes: 1_000 }))
      .to.throw(UpstreamError, 'over 1000 bytes')
      .with.property('fault', 'broken');
  });
});
