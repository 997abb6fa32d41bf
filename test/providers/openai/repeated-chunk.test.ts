import { expect } from 'chai';
import fc from 'fast-check';
import { repeatedText, rememberChunk, newRepeatedChunk } from '../../../providers/openai/stream.js';
import { chat } from '../../../providers/openai.js';
import type { ChatCall, ChatDelta } from '../../../src/modalities/chat/codec.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const CALL: ChatCall = { messages: [], stream: true, n: 2, max_tokens: 9, fields: {} };
const FINISH = '{"choices":[{"delta":{},"finish_reason":"stop"}]}';

/** The deltas of each chunk, all read by one decoder. */
function decode(chunks: readonly string[], wire = {}): ChatDelta[][] {
  const decoder = chat.decodeStream(CALL, upstreamAt(providerAt('http://fake.invalid', { wire })));
  return chunks.map((data) => {
    const deltas: ChatDelta[] = [];
    decoder.read([{ event: undefined, data }], deltas);
    return deltas;
  });
}

const chunk = (content: string, more = {}, delta = {}): string =>
  JSON.stringify({ id: 'x', choices: [{ index: 1, delta: { content, ...delta }, ...more }] });

describe('a chunk like the one before', () => {
  it('is not parsed again, and says the same as if it were', () => {
    const repeated = newRepeatedChunk();
    const read = (data: string): string =>
      (JSON.parse(data) as { choices: [{ delta: { content: string } }] }).choices[0].delta.content;
    rememberChunk(repeated, chunk('one'), { index: 1, text: 'one' }, read);
    expect(repeatedText(repeated, chunk('two 🚂'))).to.equal('two 🚂');
    for (const other of ['', 'a"b', 'a\\b', 'a\nb', '\u0001']) {
      expect(repeatedText(repeated, chunk(other)), other).to.equal(undefined);
    }
    expect(repeatedText(repeated, chunk('two', { finish_reason: 'stop' }))).to.equal(undefined);
  });

  it('is not taken for its text where the text stands in another place too', () => {
    const twice = (content: string, note: string): string =>
      `{"note":{"content":"${note}"},"choices":[{"delta":{"content": "${content}"}}]}`;
    const said = decode([twice('a', 'a'), twice('a', 'b'), twice('b', 'b')]).flat();
    expect(said.map(({ content }) => content)).to.deep.equal(['a', 'a', 'b']);
  });

  it('keeps reasoning in tags apart', () => {
    const chunks = ['<think>', 'hm', '</think>', 'yes'].map((text) => chunk(text));
    const said = decode(chunks, { think_tags: true }).flat();
    expect(said.map(({ content }) => content ?? '').join('')).to.equal('yes');
    expect(said.map(({ reasoning_content }) => reasoning_content ?? '').join('')).to.equal('hm');
  });

  it('is learnt once the reasoning between tags is over, whose text stays as it is', () => {
    const chunks = ['<think>hm', '</think> ', ' yes', ' <think>', '</think> so'].map((text) =>
      chunk(text),
    );
    const said = decode(chunks, { think_tags: true }).flat();
    const texts = said.flatMap(({ content }) => content ?? []);
    expect(texts).to.deep.equal(['yes', ' <think>', '</think> so']);
    expect(said.flatMap(({ reasoning_content }) => reasoning_content ?? [])).to.deep.equal(['hm']);
  });

  it('says the same whatever came before it', () => {
    const texts = fc.oneof(fc.constantFrom('a', 'b', '', '"', '\\', '\u2028'), fc.string());
    const more = fc.constantFrom({}, {}, {}, { logprobs: { content: [] } }, { index: 0 });
    const delta = fc.constantFrom({}, {}, {}, { reasoning: 'r' }, { refusal: 'no' });
    const chunks = fc.array(fc.tuple(texts, more, delta).map((parts) => chunk(...parts)));
    fc.assert(
      fc.property(chunks, (streamed) => {
        const together = decode([...streamed, FINISH]);
        streamed.forEach((data, at) => {
          expect(together[at], data).to.deep.equal(decode([data])[0]);
        });
      }),
      { numRuns: 500 },
    );
  });
});
