import { expect } from 'chai';
import { ReplyBody } from '../../src/upstream/reply-body.js';
import { EventReader, StreamReader, type EventDecoder } from '../../src/upstream/sse.js';
import { until } from '../helpers/until.js';

const LIMITS = { event_bytes: 1_000, stream_bytes: 10_000 };

interface Delta {
  index: number;
  content: string;
}

/** Says each event's text as it is; `end` ends the stream, `bad` is an error. */
function decoder(): EventDecoder<Delta> {
  return {
    read(events, deltas) {
      for (const { data } of events) {
        if (data === 'end') return true;
        if (data === 'bad') throw new Error('a bad event');
        deltas.push({ index: 0, content: data });
      }
      return false;
    },
    end() {
      throw new Error('cut');
    },
  };
}

describe('the reader of a stream', () => {
  let isClosed: boolean;

  async function* packets(...texts: string[]): AsyncGenerator<Buffer, undefined> {
    try {
      for (const text of texts) yield Buffer.from(text);
    } finally {
      isClosed = true;
    }
  }

  const reading = (...texts: string[]): StreamReader<Delta> =>
    new StreamReader(packets(...texts), new EventReader(LIMITS), decoder());

  beforeEach(() => {
    isClosed = false;
  });

  it('gives what each packet says, and ends where the stream says so', async () => {
    const reader = reading('data: a\n\ndata: b\n\n', ': wait\n\n', 'data: end\n\n', 'data: c\n\n');
    expect(await reader.next()).to.have.length(2);
    expect(await reader.next()).to.equal(undefined);
    expect(isClosed).to.equal(true);
    expect(await reader.next()).to.equal(undefined);
  });

  it('gives what came before an error in the same packet, then the error, once', async () => {
    const reader = reading('data: a\n\ndata: bad\n\ndata: b\n\n');
    expect(await reader.next()).to.deep.equal([{ index: 0, content: 'a' }]);
    expect(isClosed).to.equal(true);
    expect(await reader.next().catch(String)).to.equal('Error: a bad event');
    expect(await reader.next()).to.equal(undefined);
  });

  it('asks the decoder whether a stream that just ends is complete', async () => {
    const reader = reading('data: a\n\ndata: b');
    expect(await reader.next()).to.have.length(1);
    expect(await reader.next()).to.have.length(1);
    expect(await reader.next().catch(String)).to.equal('Error: cut');
  });

  it('stops reading the body when its own reader leaves', async () => {
    const reader = reading('data: a\n\n', 'data: b\n\n');
    await reader.next();
    reader.leave();
    await until(() => isClosed, 'the body is let go');
    expect(await reader.next()).to.equal(undefined);
  });

  /** The same texts as any body gives them, and as the network does. */
  const bodies: Record<string, (...texts: string[]) => AsyncIterable<Uint8Array>> = {
    'any body': packets,
    'a body of the network': (...texts) => {
      const body = new ReplyBody({ resume: () => undefined, abandon: () => (isClosed = true) });
      for (const text of texts) body.push(Buffer.from(text));
      body.end();
      return body;
    },
  };
  for (const [name, bodyOf] of Object.entries(bodies)) {
    const all = async (...texts: string[]): Promise<string> => {
      const said: unknown[] = [];
      const reader = new StreamReader(bodyOf(...texts), new EventReader(LIMITS), decoder());
      const ended = await reader
        .each((deltas) => {
          said.push(...deltas.map(({ content }) => content));
          return Promise.resolve();
        })
        .catch(String);
      return [...said, ended ?? 'whole'].join(' ');
    };

    it(`gives each delta of ${name}, and tells how it ended`, async () => {
      expect(await all('data: a\n\n', 'data: b\n\ndata: end\n\n', 'data: c\n\n')).to.equal(
        'a b whole',
      );
      expect(await all('data: a\n\ndata: bad\n\ndata: b\n\n')).to.equal('a Error: a bad event');
      expect(await all('data: a\n\nda', 'ta: b')).to.equal('a b Error: cut');
      expect(await all()).to.equal('Error: cut');
    });

    it(`leaves ${name} when its consumer stops`, async () => {
      const reader = new StreamReader(
        bodyOf('data: a\n\n', 'data: b\n\n'),
        new EventReader(LIMITS),
        decoder(),
      );
      let count = 0;
      await reader.each(() => {
        count += 1;
        reader.leave();
        return undefined;
      });
      expect(count).to.equal(1);
    });
  }
});
