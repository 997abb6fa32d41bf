import { expect } from 'chai';
import fc from 'fast-check';
import { exceptionIn, openFrames, refuseBroken } from '../../../providers/bedrock/frames.js';
import type { ServerSentEvent } from '../../../src/upstream/sse.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { eventFrame, exceptionFrame, flipped, frame, resealed } from '../../helpers/aws-frames.js';
import { splitAt } from '../../helpers/packets.js';

const LIMITS = { event_bytes: 1_000, stream_bytes: 10_000 };

/** Frames whose checksums were worked out apart from this code. */
const KNOWN = Buffer.from(
  '000000760000005296d5fade0b3a6576656e742d7479706507000c6d65737361676553746172740d3a636f6e74656e' +
    '742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e74' +
    '7b22726f6c65223a22617373697374616e74227d6fa8c599' +
    '0000009400000057b4ab9aee0b3a6576656e742d74797065070011636f6e74656e74426c6f636b44656c74610d3a63' +
    '6f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d74797065070005' +
    '6576656e747b22636f6e74656e74426c6f636b496e646578223a302c2264656c7461223a7b2274657874223a224869' +
    '227d7d1f944657' +
    '0000008800000061de0175f40f3a657863657074696f6e2d747970650700137468726f74746c696e67457863657074' +
    '696f6e0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d74' +
    '797065070009657863657074696f6e7b226d657373616765223a22736c6f7720646f776e227d832ee072',
  'hex',
);

interface Outcome {
  events: ServerSentEvent[];
  /** What a reader throws at the first event that stands for a broken frame. */
  error?: unknown;
}

/** What comes of packets and the end after them, as a decoder hears it. */
function read(packets: readonly Uint8Array[], limits = LIMITS): Outcome {
  const frames = openFrames(limits);
  const events: ServerSentEvent[] = [];
  const hear = (some: readonly ServerSentEvent[]): void => {
    for (const event of some) {
      refuseBroken(event);
      events.push(event);
    }
  };
  try {
    for (const packet of packets) hear(frames.read(packet));
    hear(frames.finish());
    return { events };
  } catch (error) {
    return { events, error };
  }
}

const bytewise = (bytes: Uint8Array): Uint8Array[] => [...bytes].map((byte) => Uint8Array.of(byte));
const HELLO = eventFrame('contentBlockDelta', { delta: { text: 'Grüß 🌍' } });
const BYE = eventFrame('messageStop', { stopReason: 'end_turn' });
const said = ({ events }: Outcome): (string | undefined)[] => events.map(({ event }) => event);

describe('the frames of a stream of Bedrock', () => {
  const due = [
    { event: 'messageStart', data: '{"role":"assistant"}' },
    { event: 'contentBlockDelta', data: '{"contentBlockIndex":0,"delta":{"text":"Hi"}}' },
  ];
  const ways: [string, readonly Uint8Array[]][] = [
    ['in one write', [KNOWN]],
    ['byte by byte', bytewise(KNOWN)],
    ['split inside a prelude, a header and a checksum', splitAt(KNOWN, [3, 11, 40, 117, 119, 260])],
  ];
  for (const [name, packets] of ways) {
    it(`are read ${name}`, () => {
      const { events, error } = read(packets);
      expect(error).to.equal(undefined);
      expect(events.slice(0, 2)).to.deep.equal(due);
      const [, , last = { event: '', data: '' }] = events;
      expect(exceptionIn(last)).to.equal('throttlingException');
      expect(last.data).to.equal('{"message":"slow down"}');
    });
  }

  it('keep a character whole that two packets share', () => {
    const { events } = read(bytewise(HELLO));
    expect(events[0]?.data).to.equal('{"delta":{"text":"Grüß 🌍"}}');
  });

  it('end as broken where the checksum of a prelude is wrong, without waiting for more', () => {
    const frames = openFrames(LIMITS);
    const [event] = frames.read(flipped(HELLO, 9).subarray(0, 12));
    expect(() => event && refuseBroken(event)).to.throw(UpstreamError, 'damaged');
  });

  for (const [part, at] of [
    ['a length', 3],
    ['a header', 20],
    ['a payload', HELLO.length - 8],
    ['its own checksum', HELLO.length - 1],
  ] as const) {
    it(`end as broken at a flipped bit in ${part}, and say all that came before`, () => {
      const bytes = Buffer.concat([BYE, flipped(HELLO, at), BYE]);
      for (const packets of [[bytes], bytewise(bytes)]) {
        const outcome = read(packets);
        expect(said(outcome)).to.deep.equal(['messageStop']);
        expect(outcome.error).to.be.instanceOf(UpstreamError).with.property('fault', 'broken');
      }
    });
  }

  for (const cut of [1, 11, 12, 30, HELLO.length - 1]) {
    it(`end as broken where the bytes end after ${cut} of a frame`, () => {
      const outcome = read([BYE, HELLO.subarray(0, cut)]);
      expect(said(outcome)).to.deep.equal(['messageStop']);
      expect(outcome.error).to.be.instanceOf(UpstreamError).with.property('fault', 'broken');
    });
  }

  it('are bounded one by one, by the length that they announce', () => {
    const outcome = read([BYE, eventFrame('x', { p: 'p'.repeat(1_000) }).subarray(0, 12)]);
    expect(said(outcome)).to.deep.equal(['messageStop']);
    expect(outcome.error).to.be.instanceOf(UpstreamError);
    expect(String(outcome.error)).to.include('an event of over 1000 bytes');
  });

  it('are bounded together', () => {
    const limits = { event_bytes: 1_000, stream_bytes: 2 * HELLO.length };
    expect(read([HELLO, HELLO], limits).error).to.equal(undefined);
    const { error } = read([HELLO, HELLO, BYE], limits);
    expect(error).to.be.instanceOf(UpstreamError).with.property('fault', 'broken');
    expect(String(error)).to.include(`a stream of over ${limits.stream_bytes} bytes`);
  });

  it('may carry headers of every type', () => {
    const odd = {
      ':date': new Date(1_767_000_000_000),
      yes: true,
      no: false,
      count: -7,
      raw: Buffer.from([0, 255]),
      id: { uuid: Buffer.alloc(16, 5) },
    };
    const { events, error } = read([eventFrame('ping', {}, odd), BYE]);
    expect(error).to.equal(undefined);
    expect(events.map(({ event }) => event)).to.deep.equal(['ping', 'messageStop']);
  });

  it('end as broken at a header of a type that does not exist', () => {
    const good = frame({ ':event-type': 'x', odd: 1 }, '{}');
    const bytes = Buffer.from(good);
    // The type stands behind the name.
    bytes[good.indexOf('odd') + 3] = 42;
    const outcome = read([resealed(bytes)]);
    expect(outcome.error).to.be.instanceOf(UpstreamError).with.property('fault', 'broken');
  });

  it('say an error that is no modelled exception by its headers', () => {
    const headers = { ':message-type': 'error', ':error-code': 'Odd', ':error-message': 'gone' };
    const [event = { event: '', data: '' }] = read([frame(headers, '')]).events;
    expect(exceptionIn(event)).to.equal('Odd');
    expect(event.data).to.equal('{"message":"gone"}');
  });

  it('do not let an event pass for an exception', () => {
    const [event = { event: '', data: '' }] = read([exceptionFrame('a', 'b')]).events;
    expect(exceptionIn(event)).to.equal('a');
    expect(exceptionIn({ event: 'metadata', data: '{}' })).to.equal(undefined);
  });

  it('say the same however they are split, and never anything else after a flipped bit', () => {
    const texts = fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 6 });
    const places = fc.array(fc.nat(1_000), { maxLength: 8 });
    fc.assert(
      fc.property(texts, places, fc.nat(), (said, cuts, bit) => {
        const bytes = Buffer.concat(said.map((text) => eventFrame('delta', { text })));
        const due = said.map((text) => ({ event: 'delta', data: JSON.stringify({ text }) }));
        const inside = cuts.filter((cut) => cut < bytes.length);
        expect(read(splitAt(bytes, inside))).to.deep.equal({ events: due });
        const broken = read(splitAt(flipped(bytes, bit % bytes.length), inside));
        expect(broken.error).to.be.instanceOf(UpstreamError);
        expect(due.slice(0, broken.events.length)).to.deep.equal(broken.events);
      }),
      { numRuns: 200 },
    );
  });
});
