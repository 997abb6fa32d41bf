import { expect } from 'chai';
import fc from 'fast-check';
import { UpstreamError } from '../../../src/core/upstream-error.js';
import { answer, framed, heard, type Heard } from '../../helpers/gemini.js';
import { inThreeWays, splitAt } from '../../helpers/packets.js';

/** An event that says nothing of an end. */
function open(parts: readonly object[], usageMetadata?: object): object {
  const candidates = [{ content: { role: 'model', parts }, index: 0 }];
  return { candidates, ...(usageMetadata && { usageMetadata }) };
}

const END = answer([{ text: '' }], {
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 9, thoughtsTokenCount: 20 },
});

interface Story {
  name: string;
  stream: string;
  check: (said: Heard) => void;
}

function whole({ error }: Heard): void {
  expect(error).to.equal(undefined);
}

function broken({ error }: Heard, fault = 'broken'): void {
  expect(error).to.be.instanceOf(UpstreamError).with.property('fault', fault);
}

const OVERLOADED = { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } };
const BARE =
  '{\n  "error": {\n    "code": 499,\n    "message": "Cancelled.",\n    "status": "CANCELLED"\n  }\n}\n';

const STORIES: Story[] = [
  {
    name: 'frames end in CR LF, and no mark ends the stream (quirk 12)',
    stream: framed([open([{ text: 'Grüße ' }]), open([{ text: '🌍' }]), END]),
    check(said) {
      whole(said);
      expect([said.content, said.finish]).to.deep.equal(['Grüße 🌍', 'stop']);
      expect(said.usage).to.deep.include({ prompt_tokens: 4, completion_tokens: 29 });
    },
  },
  {
    name: 'STOP on every event ends nothing before the bytes do (quirk 13)',
    stream: framed([answer([{ text: 'Hel' }]), answer([{ text: 'lo' }])]),
    check(said) {
      whole(said);
      expect([said.content, said.finish]).to.deep.equal(['Hello', 'stop']);
      expect(said.deltas.filter((delta) => delta.finish_reason)).to.have.length(1);
    },
  },
  {
    name: 'a STOP also ends tool calls, whose signature is in the id (quirks 13, 16)',
    stream: framed([
      open([{ text: 'Hm', thought: true }]),
      answer([
        { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'QUI=' },
        { functionCall: { id: 'b2', name: 'g', args: {} } },
      ]),
    ]),
    check(said) {
      whole(said);
      expect([said.reasoning, said.content]).to.deep.equal(['Hm', '']);
      expect(said.calls.map(({ name, arguments: args }) => [name, args])).to.deep.equal([
        ['f', '{"a":1}'],
        ['g', '{}'],
      ]);
      expect(said.calls[0]?.id).to.match(/^call_[0-9a-f]{24}~ts~QUI$/u);
      expect(said.calls[1]?.id).to.equal('b2');
    },
  },
  {
    name: 'the signature of an empty last text is told as a detail',
    stream: framed([open([{ text: 'Hi' }]), answer([{ text: '', thoughtSignature: 'QUI=' }])]),
    check(said) {
      whole(said);
      const detail = { type: 'reasoning.encrypted', data: 'QUI=', format: 'google-gemini-v1' };
      expect(said.details).to.deep.equal([{ ...detail, index: 0 }]);
    },
  },
  {
    name: 'the last usage counts as a whole, although an earlier one was larger',
    stream: framed([
      open([{ text: 'Hi' }], { promptTokenCount: 169, candidatesTokenCount: 9 }),
      answer([], { usageMetadata: { promptTokenCount: 79, thoughtsTokenCount: 3 } }),
      { usageMetadata: { trafficType: 'ON_DEMAND' } },
    ]),
    check(said) {
      whole(said);
      expect(said.usage).to.deep.include({ prompt_tokens: 79, completion_tokens: 3 });
    },
  },
  {
    name: 'the prompt, its classes and the thoughts stand where the last usage leaves them out',
    stream: framed([
      open([{ text: 'Hi' }], {
        promptTokenCount: 100,
        toolUsePromptTokenCount: 20,
        cachedContentTokenCount: 90,
        candidatesTokenCount: 1,
        thoughtsTokenCount: 40,
      }),
      answer([], { usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 3 } }),
    ]),
    check(said) {
      whole(said);
      expect(said.usage).to.deep.equal({
        prompt_tokens: 120,
        completion_tokens: 43,
        prompt_tokens_details: { cached_tokens: 90 },
        completion_tokens_details: { reasoning_tokens: 40 },
      });
    },
  },
  {
    name: 'a stream without a finish reason is cut',
    stream: framed([open([{ text: 'Hel' }])]),
    check(said) {
      broken(said);
      expect(said.content).to.equal('Hel');
    },
  },
  {
    name: 'a stream that says nothing is a failure',
    stream: framed([{ usageMetadata: { promptTokenCount: 5 } }]),
    check(said) {
      broken(said);
      expect(said.deltas.filter(({ index }) => index !== undefined)).to.deep.equal([]);
    },
  },
  {
    name: 'an error as the first event is an error (quirk 10)',
    stream: framed([OVERLOADED]),
    check(said) {
      broken(said, 'overloaded');
      expect(said.deltas).to.deep.equal([]);
    },
  },
  {
    name: 'an error in the middle is an error, after what came before it (quirk 10)',
    stream: framed([open([{ text: 'Hel' }]), OVERLOADED]),
    check(said) {
      broken(said, 'overloaded');
      expect(said.content).to.equal('Hel');
    },
  },
  {
    name: 'a bare JSON error between the events is an error (quirk 19)',
    stream: framed([open([{ text: 'Hel' }])]) + BARE,
    check(said) {
      broken(said);
      expect(said.content).to.equal('Hel');
    },
  },
  {
    name: 'a refused prompt has no candidates (quirk 15)',
    stream: framed([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }]),
    check: (said) => broken(said, 'policy'),
  },
  {
    name: 'a stop for safety after some text is the end of the answer',
    stream: framed([open([{ text: 'Hel' }]), answer([], {}, 'SAFETY')]),
    check(said) {
      whole(said);
      expect([said.content, said.finish]).to.deep.equal(['Hel', 'content_filter']);
    },
  },
  {
    name: 'a malformed call without anything else is a failure',
    stream: framed([answer([], {}, 'MALFORMED_FUNCTION_CALL')]),
    check: (said) => broken(said),
  },
  {
    name: 'an event that is not JSON is a failure',
    stream: 'data: {"candidates": [\r\n\r\n',
    check: (said) => broken(said),
  },
];

describe('a stream of Gemini', () => {
  for (const { name, stream, check } of STORIES) {
    for (const [way, packets] of inThreeWays(stream)) {
      it(`${name}, ${way}`, () => check(heard(packets)));
    }

    it(`${name}, however it is split`, () => {
      const bytes = Buffer.from(stream);
      const cuts = fc.array(fc.nat(bytes.length));
      fc.assert(
        fc.property(cuts, (places) => check(heard(splitAt(bytes, places)))),
        { numRuns: 20 },
      );
    });
  }
});
