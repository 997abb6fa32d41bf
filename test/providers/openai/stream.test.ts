import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { chat } from '../../../providers/openai.js';
import type { ChatCall, ChatDelta } from '../../../src/modalities/chat/codec.js';
import { StreamReader, EventReader } from '../../../src/upstream/sse.js';
import { each, inThreeWays, splitAt } from '../../helpers/packets.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';
import { UpstreamError } from '../../../src/core/upstream-error.js';

/** One odd stream: what comes in, the deltas that come out, and the fault it ends with, if any. */
interface Fixture {
  about: string;
  wire?: Record<string, unknown>;
  stream: string;
  deltas: ChatDelta[];
  fault?: string;
  message?: string;
}

interface Outcome {
  batches: (readonly ChatDelta[])[];
  error: unknown;
}

const CALL: ChatCall = { messages: [], stream: true, n: 3, max_tokens: 9, fields: {} };
const LIMITS = { event_bytes: 1_000_000, stream_bytes: 1_000_000 };
const folder = new URL('../../fixtures/upstream/', import.meta.url);
const fixtures = readdirSync(folder).map((file): [string, Fixture] => [
  file.replace('.yaml', ''),
  parse(readFileSync(new URL(file, folder), 'utf8')) as Fixture,
]);

async function decode(packets: readonly Uint8Array[], wire = {}): Promise<Outcome> {
  const upstream = upstreamAt(providerAt('http://fake.invalid', { wire }));
  const batches: (readonly ChatDelta[])[] = [];
  try {
    const reader = new StreamReader(
      each(packets),
      new EventReader(LIMITS),
      chat.decodeStream(CALL, upstream),
    );
    for (let batch; (batch = await reader.next());) batches.push(batch);
  } catch (error) {
    return { batches, error };
  }
  return { batches, error: undefined };
}

function expectOutcome(
  { batches, error }: Outcome,
  { deltas, fault, message = '' }: Fixture,
): void {
  expect(batches.flat()).to.deep.equal(deltas);
  if (fault === undefined) {
    expect(error).to.equal(undefined);
    return;
  }
  expect(error).to.be.instanceOf(UpstreamError).with.property('fault', fault);
  expect(error).to.have.property('message').that.includes(message);
}

describe('a stream of the openai codec', () => {
  for (const [name, fixture] of fixtures) {
    for (const [way, packets] of inThreeWays(fixture.stream)) {
      it(`reads ${name}, ${way}: ${fixture.about}`, async () => {
        expectOutcome(await decode(packets, fixture.wire), fixture);
      });
    }

    it(`reads ${name} however it is split`, async () => {
      const bytes = Buffer.from(fixture.stream);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
          expectOutcome(await decode(splitAt(bytes, cuts), fixture.wire), fixture);
        }),
        { numRuns: 20 },
      );
    });
  }

  it('gives the deltas of one packet together, the end too', async () => {
    const fixture = fixtures.find(([name]) => name === 'plain-text')?.[1];
    const bytes = Buffer.from(`${fixture?.stream}\n`);
    expect((await decode([bytes])).batches).to.have.length(1);
  });

  it('never fails otherwise than as an upstream does, whatever JSON comes', async () => {
    const odd = fc.oneof(fc.constantFrom(null, 7, '', 'x', true, {}, [], [null]), fc.jsonValue());
    const call = record({ index: odd, id: odd, function: odd });
    const delta = record({
      content: odd,
      refusal: odd,
      reasoning_details: odd,
      tool_calls: fc.array(call),
    });
    const choice = record({
      index: odd,
      delta: fc.oneof(odd, delta),
      finish_reason: odd,
      error: odd,
    });
    const chunk = record({ choices: fc.oneof(odd, fc.array(choice)), usage: odd, x_groq: odd });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk), async (chunks) => {
        const text = chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
        const { error } = await decode([Buffer.from(text)], { completion_from_total: true });
        if (error !== undefined) expect(error).to.be.instanceOf(UpstreamError);
      }),
      { numRuns: 200 },
    );
  });
});

/** Objects with any of these fields, or none. */
function record<T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(fields, { requiredKeys: [] });
}
