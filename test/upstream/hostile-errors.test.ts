import { expect } from 'chai';
import fc from 'fast-check';
import { scriptedGateways, HELLO, UPSTREAM_KEY } from '../money/helpers/scripted-gateway.js';
import { classifyError, classifyErrorInside } from '../../src/upstream/classify-error.js';
import { stalled } from '../helpers/event-loop-stall.js';
import { isLinear } from '../helpers/linear-time.js';

/** Far above what a sound reading takes, far below the half minute of one that is not linear. */
const MAX_MS = 1_000;
const json = (value: unknown): string => JSON.stringify(value);

/** Words that some pattern of the reader begins with, or looks for. */
const WORDS = [
  'api_key ',
  'api key',
  'invalid ',
  'exceeds input token count ',
  'input token count ',
  'insufficient ',
  'content',
  'too many ',
  '_',
  ' ',
  '[',
];

describe('a hostile error of an upstream', () => {
  const open = scriptedGateways();

  for (const word of ['api_key ', 'exceeds input token count ', 'invalid ']) {
    it(`freezes no other call: 256 kB of "${word.trim()}"`, async () => {
      const message = word.repeat(Math.ceil(262_144 / word.length));
      const house = await open({ status: 400, body: json({ error: { message } }) });
      const [most_ms, answer] = await stalled(() => house.post(HELLO));
      expect(answer.status).to.equal(400);
      expect(most_ms).to.be.below(MAX_MS);
    });
  }

  it('freezes no other call: 1 MB of it inside a 200 and inside a stream', async () => {
    const error = { error: { message: 'api_key '.repeat(131_072), code: 400 } };
    const house = await open([
      { headers: { 'content-type': 'application/json' }, body: json(error) },
      { headers: { 'content-type': 'text/event-stream' }, body: `data: ${json(error)}\n\n` },
    ]);
    for (const stream of [false, true]) {
      const [most_ms, answer] = await stalled(() => house.post({ ...HELLO, stream }));
      expect(answer.status).to.equal(400);
      expect(most_ms).to.be.below(MAX_MS);
    }
  });

  it('is read no further than 64 kB', async () => {
    const chunks = Array.from({ length: 64 }, () => 'x'.repeat(65_536));
    const house = await open({ status: 400, chunks });
    const answer = await house.post(HELLO);
    const { error } = (await answer.json()) as { error: { message: string } };
    expect(error.message).to.equal('x'.repeat(300));
    const [request] = house.upstream.requests;
    expect(await request?.closed).to.equal(false);
  });

  it('shows the first words of its text if its JSON is cut', () => {
    const body = json({ error: { message: `Bad n. ${'x'.repeat(100_000)}` } }).slice(0, 65_536);
    expect(classifyError(400, {}, body)).to.include({
      fault: 'rejected',
      message: body.slice(0, 300),
    });
  });

  it('shows no part of a credential where its message is cut', () => {
    const caller = { headers: { authorization: `Bearer ${UPSTREAM_KEY}` } };
    for (let before = 280; before < 300; before += 1) {
      const { message } = classifyError(
        400,
        {},
        `${'x'.repeat(before)}${UPSTREAM_KEY} is bad`,
        caller,
      );
      expect(message).not.to.include(UPSTREAM_KEY.slice(0, 8));
    }
  });

  it('is read in linear time, whatever its words are', () => {
    const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 });
    const status = fc.constantFrom(400, 403, 404, 429, 500);
    fc.assert(
      fc.property(words, words, status, (some, last, code) => {
        const text = some.join('').repeat(40_000).slice(0, 262_144) + last.join('');
        const read = (message: string) => {
          classifyError(code, {}, message);
          classifyError(code, {}, json({ error: { message, code: message, type: message } }));
          classifyErrorInside({ error: { message, type: message } });
          classifyErrorInside({ error: { message, type: message, code } });
        };
        expect(isLinear(text, read)).to.equal(true);
      }),
      { numRuns: 40 },
    );
  });

  it('that is a list of lists is read without a stack for each', () => {
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    expect(classifyErrorInside(JSON.parse(deep)).fault).to.equal('broken');
    expect(classifyError(400, {}, deep).fault).to.equal('rejected');
  });
});
