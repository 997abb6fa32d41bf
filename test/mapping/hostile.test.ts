import { expect } from 'chai';
import fc from 'fast-check';
import { compileProgress } from '../../src/modalities/video/template-progress.js';
import { mapImages } from '../../src/modalities/image/template.js';
import { mapVideos } from '../../src/modalities/video/template.js';
import { OPERATORS } from '../../src/mapping/operators.js';
import { evaluate } from '../../src/mapping/scope.js';
import { Report } from '../../src/yaml/report.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';
import { compiled, made, sourceOf } from './helpers/template.js';
import { UpstreamError } from '../../src/core/upstream-error.js';
import type { Operations } from '../../src/modalities/video/template-types.js';

const WORDS = [...OPERATORS].flatMap(([name, { may }]) => [name, ...may]);
const PATHS = [
  '$',
  '$.a',
  '$.a[0]',
  '$.a.b[-1].c',
  '$body.a',
  '$index',
  '$model',
  '$.',
  '$x',
  '$$',
];
const JMESPATHS = ['a', 'a[]', '[@,@]', '*.b', 'a[?b]', 'keys(@)', 'map(&b, a)', 'sort(a)', 'a ||'];

const key = fc.oneof(
  fc.constantFrom(...WORDS, 'a', 'b', '__proto__', 'constructor', 'toString'),
  fc.string({ maxLength: 5 }),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(...PATHS, ...JMESPATHS),
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 8 })),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ...[...OPERATORS].map(([name, { needs, may }]) =>
      fc.record(Object.fromEntries([name, ...may].map((word) => [word, tie('tree')])), {
        requiredKeys: [name, ...needs],
      }),
    ),
  ),
}));
const body = fc.oneof(
  fc.jsonValue({ maxDepth: 6 }),
  fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), fc.jsonValue({ maxDepth: 4 })),
) as fc.Arbitrary<unknown>;

/** What an evaluation comes to; anything thrown but an `UpstreamError` is passed on. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (error instanceof UpstreamError) return error.fault;
    throw error;
  }
}

describe('hostile templates and answers', () => {
  it('cause faults of the file or of the upstream, and no other error', () => {
    const before = Reflect.ownKeys(Object.prototype);
    fc.assert(
      fc.property(tree, body, (template, answer) => {
        const { template: run } = compiled(JSON.stringify(template));
        const names = { body: answer, call: {}, model: 'm' };
        outcome(() => evaluate(run, answer, names));
      }),
      { numRuns: 600 },
    );
    expect(Reflect.ownKeys(Object.prototype)).to.deep.equal(before);
  });

  for (const word of ['{ toString: 1 }', '[[{ toString: null }]]', '["16:9"]', '169', '"0:9"']) {
    it(`are faults of a file where a ratio to choose from is ${word}`, () => {
      const { faults } = compiled(`{ nearest_ratio: $, of: ["1:1", ${word}] }`);
      expect(faults).to.have.length(1);
    });
  }

  it('never give a value another prototype', () => {
    const answer: unknown = JSON.parse('{"a": {"__proto__": {"evil": 1}, "b": 2}}');
    const merged = made('{ merge: [$.a, { c: $.a }] }', answer);
    expect(Object.getPrototypeOf(merged)).to.equal(Object.prototype);
    expect(merged).not.to.have.property('evil');
    for (const path of ["$['__proto__'].evil", '$.a.__proto__']) {
      expect(compiled(`"${path}"`).faults, path).to.have.length(1);
    }
    for (const text of ['{"__proto__": a}', '`{"__proto__": {"x": 1}}`']) {
      expect(compiled(JSON.stringify({ jmespath: text })).faults, text).to.have.length(1);
    }
  });

  it('cannot be deeper than the maximum', () => {
    const deep = '['.repeat(40) + ']'.repeat(40);
    expect(compiled(deep).faults.map(({ message }) => message)).to.deep.equal([
      'a template is at most 32 levels deep',
    ]);
    const answer: unknown = JSON.parse(`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`);
    expect(outcome(() => made('$.a', answer))).to.equal('broken');
    expect(outcome(() => made('{ jmespath: "a[][][]" }', answer))).to.equal('broken');
  });

  it('cannot make more than a bound, though one value stands in many places', () => {
    const list = Array.from({ length: 2_000 }, (_, i) => i);
    const text = 'x'.repeat(200_000);
    for (const template of [
      '{ each: $.list, do: $body.list }',
      '{ each: $.list, do: { each: $body.list, do: $ } }',
      '{ each: $.list, do: $body.text }',
      '{ each: $.list, do: { concat: [$body.text, $body.text] } }',
      '{ each: $.list, do: { merge: [$body.block] } }',
    ]) {
      const block = Object.fromEntries(list.map((i) => [`k${i}`, i]));
      expect(
        outcome(() => made(template, { list, text, block })),
        template,
      ).to.equal('broken');
    }
  });

  it('are no way for JMESPath to run on', () => {
    const copies = Array.from({ length: 40 }, () => '[@,@]').join('|');
    for (const [text, words] of [
      [copies, 'too many'],
      ["pad_left(@, `100000000`, 'x')", 'pad_left'],
      ['map(&map(&@, $.a), a)', 'neither'],
      ['a'.repeat(501), 'at most 500'],
      ['('.repeat(400), 'is not JMESPath'],
      ['nosuch(@)', 'nosuch'],
    ] as const) {
      const { faults } = compiled(JSON.stringify({ jmespath: text }));
      expect(faults.map(({ message }) => message).join(), text).to.include(words);
    }
    expect(outcome(() => made('{ jmespath: "keys(a)" }', { a: 1 }))).to.equal('broken');
  });
});

const OPERATIONS = {
  image: {
    path: '/paint/{model}',
    request: { p: '$.prompt' },
    response: { images: '$.p', usage: '$.u', error: '$.e' },
  },
  'video.submit': {
    path: '/films',
    request: { p: '$.prompt' },
    response: { state: { id: '$.id' } },
  },
  'video.status': {
    path: '/films/{$state.id}',
    response: { status: '$.status', videos: '$.videos', error: '$.error' },
  },
};

describe('codecs of templates', () => {
  const report = new Report();
  const yaml = JSON.stringify({ operations: OPERATIONS });
  const source = sourceOf(yaml, report);
  const image = mapImages(source, OPERATIONS.image as never);
  const video = mapVideos(source, OPERATIONS as unknown as Operations);
  const upstream = upstreamAt(providerAt('http://127.0.0.1:9/v1'), { model: 'a/b' });
  const call = { prompt: 'p', n: 1, response_format: 'url', fields: {} } as never;

  it('take any answer', () => {
    expect(report.sorted('')).to.deep.equal([]);
    const status = fc.constantFrom(200, 202, 400, 404, 422);
    const answer = fc.oneof(
      body,
      fc.record(
        {
          status: fc.constantFrom('IN_QUEUE', 'COMPLETED', 'FAILED', 'X', 7),
          videos: body,
          error: body,
          p: body,
          e: body,
          id: body,
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(status, answer, (code, said) => {
        outcome(() => image.decode(said, call, upstream));
        const state = outcome(() => video.submitted(said, call, upstream));
        if (typeof state !== 'string') {
          expect(video.poll(state as never, upstream).path).to.match(/^\/films\/[^/]+$/u);
        }
        outcome(() => video.polled({ status: code, body: said }, { id: '1' }, upstream));
      }),
      { numRuns: 400 },
    );
  });

  it('lead nowhere but below their path', () => {
    for (const id of ['..', '.', '', '\ud800', null, {}, 'x'.repeat(9_000)]) {
      const asked = outcome(() => video.submitted({ id }, call, upstream));
      expect(asked, JSON.stringify(id).slice(0, 9)).to.equal('broken');
    }
    const { path } = video.poll({ id: '../a?b#c%2f' }, upstream);
    expect(path).to.equal('/films/..%2Fa%3Fb%23c%252f');
    const up = upstreamAt(upstream.provider, { model: 'a/../b' });
    expect(outcome(() => image.encode(call, up))).to.equal('broken');
  });

  it('remember no more of a task than fits beside it', () => {
    const roomy = structuredClone(OPERATIONS) as typeof OPERATIONS & Operations;
    roomy['video.submit'].response.state = { id: '$.id', more: '$.more' } as never;
    const codec = mapVideos(source, roomy);
    const more = 'x'.repeat(70_000);
    expect(outcome(() => codec.submitted({ id: '1', more }, call, upstream))).to.equal('broken');
  });

  it('take a refusal that is too deep to be written', () => {
    const polled = compileProgress(source, OPERATIONS as unknown as Operations, { id: {} });
    const deep: unknown = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000));
    const run = () => polled({ status: 404, body: deep }, { id: '1' }, upstream);
    expect(outcome(run)).to.equal('missing');
  });
});
