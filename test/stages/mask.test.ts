import { expect } from 'chai';
import fc from 'fast-check';
import { readFile } from 'node:fs/promises';
import { textReader } from '../../src/pipeline/modality.js';
import { MODALITIES } from '../../src/modalities/index.js';
import type { EndpointEntry } from '../../src/core/configuration.js';
import type { Services } from '../../src/pipeline/services.js';
import type { Context } from '../../src/pipeline/stage.js';
import { mask } from '../../src/stages/mask.js';
import { errorOf } from '../helpers/ask.js';
import { stageFaults } from '../helpers/stage-faults.js';
import {
  ADDRESS,
  PNG,
  startTextGateway,
  TEXT_CALLS,
  type TextGateway,
} from '../helpers/text-gateway.js';

const OWN = await readFile(new URL('../fixtures/plugins/mask-email.js', import.meta.url), 'utf8');

/** A chat request with one text, as the stage leaves it. */
async function masked(text: string, option?: object, now = () => 0): Promise<string> {
  const eachText = textReader(MODALITIES);
  const run = mask.create(option, { eachText, now } as unknown as Services, {} as EndpointEntry);
  const body = { messages: [{ role: 'user', content: text }] };
  const state = { request_id: 'r', request: { format: 'chat-completion', body } };
  await run({ state, res: {} } as unknown as Context, async () => {});
  return body.messages[0]?.content ?? '';
}

for (const [title, stage, files] of [
  ['the stage mask', 'mask: { patterns: [email, phone] }', {}],
  ["an operator's own stage that masks", './mask-email.js', { 'mask-email.js': OWN }],
] as [string, string, Record<string, string>][]) {
  describe(title, () => {
    let gateway: TextGateway;
    before(async () => {
      gateway = await startTextGateway(stage, files);
    });
    after(() => gateway.close());

    for (const { title: call, path, body, kept = [], is_task } of TEXT_CALLS) {
      it(`shows the upstream no address in ${call}`, async () => {
        const before = await gateway.books();
        const sent = new Set(gateway.sent());
        const { status, text } = await gateway.post(path, body());
        expect(status, text).to.equal(is_task ? 202 : 200);
        const [received, ...more] = gateway.sent().filter((one) => !sent.has(one));
        expect(more).to.deep.equal([]);
        expect(received?.body)
          .to.include('[email]')
          .and.not.match(/example\.com|ann(?:@|\\u0040)/u);
        for (const bytes of kept) expect(received?.body.replaceAll('\\"', '"')).to.include(bytes);
        const { charges, held, faults } = await gateway.books();
        expect(faults).to.deep.equal([]);
        expect(charges - before.charges).to.equal(is_task ? 0 : 1);
        expect(held - before.held).to.equal(is_task ? 1n : 0n);
      });
    }

    it('leaves token lists, IDs and the addresses of images as they are', async () => {
      const tokens = [[4111111111111111, 2], [3]];
      await gateway.post('/v1/embeddings', { model: 'vector', input: tokens });
      const inputs = gateway.sent().map(({ json }) => (json as { input?: unknown } | null)?.input);
      expect(inputs).to.deep.include(tokens);
      const url = `https://${ADDRESS}/1.png`;
      const content = [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url } },
      ];
      const messages = [{ role: 'user', content }];
      await gateway.post('/v1/chat/completions', { model: 'talk', messages });
      expect(gateway.sent().some(({ body }) => body.includes(url))).to.equal(true);
    });
  });
}

describe('what the stage mask hides', () => {
  const texts: [string, string, object?][] = [
    ['4111 1111 1111 1111, 192.168.0.1, DE89 3704 0044 0532 0130 00', '[card], [ip], [iban]'],
    ['ann@example.com or +49 151 2345678', '*** or ***', { with: '***' }],
    [
      'ann@example.com or 10.0.0.1',
      '<email> or 10.0.0.1',
      { patterns: ['email'], with: '<{kind}>' },
    ],
    ['ACME-123456, ann@example.com', '[hidden], [email]', { also: ['ACME-\\d{6}'] }],
    [
      'ACME-123456, ann@example.com',
      '[hidden], ann@example.com',
      { patterns: [], also: ['ACME-\\d+'] },
    ],
    ['ann@example.com', '$& $1', { with: '$& $1' }],
    [PNG, PNG],
  ];
  for (const [text, said, option] of texts) {
    it(`says ${said.slice(0, 40)} for ${text.slice(0, 40)}`, async () => {
      expect(await masked(text, option)).to.equal(said);
    });
  }

  it('is the same when it is masked again', async () => {
    const piece = fc.constantFrom(
      'ann@example.com',
      '4111 1111 1111 1111',
      '192.168.0.1',
      '+49 151 2345678',
      '0151 234567',
      'DE89 3704 0044 0532 0130 00',
      '::1',
      '@',
      '.',
      ' ',
      '-',
      '1',
      'a',
      '(',
      ':',
      '+',
      '00',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const once = await masked(pieces.join(''));
        expect(await masked(once)).to.equal(once);
      }),
      { numRuns: 500 },
    );
  });

  it('is masked in the names of metadata too, which pass on to upstreams', async () => {
    const run = mask.create(
      undefined,
      { eachText: textReader(MODALITIES), now: () => 0 } as unknown as Services,
      {} as EndpointEntry,
    );
    const body = { messages: [], metadata: { 'ann@example.com': 'of bob@example.com' } };
    const state = { request_id: 'r', request: { format: 'openai-chat', body } };
    await run({ state, res: {} } as unknown as Context, async () => {});
    expect(body.metadata).to.deep.equal({ '[email]': 'of [email]' });
  });

  it('is refused where own patterns take too long', async () => {
    let now_ms = 0;
    const slow = masked('q'.repeat(100), { also: ['q(.*z)?'] }, () => (now_ms += 100));
    const error: unknown = await slow.catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'invalid_request', param: 'messages[0].content' });
  });

  it('is refused where it stands too deep', async () => {
    const gateway = await startTextGateway('mask');
    let input: object = {};
    for (let level = 0; level < 300; level += 1) input = { a: input };
    const answer = await gateway.post('/v1/chat/completions', {
      model: 'talk',
      messages: [{ role: 'user', content: 'Hello' }],
      metadata: input,
    });
    expect(answer.status).to.equal(400);
    expect(errorOf(answer).param).to.equal('metadata');
    expect(await gateway.books()).to.deep.equal({ charges: 0, held: 0n, faults: [] });
    await gateway.close();
  });
});

describe('the options of the stage mask', () => {
  const before = 'auth, validate: chat-completion';
  const after = 'route: { capability: chat }, balance, transform: chat, meter';
  const faults: [string, RegExp][] = [
    [
      `${before}, mask: { patterns: [emial] }, ${after}`,
      /^5:\d+ wrong_value .*"emial" .*did you mean "email"\?$/u,
    ],
    [`${before}, mask: { wiht: x }, ${after}`, /^5:\d+ unknown_key .*did you mean "with"\?$/u],
    [`${before}, mask: 3, ${after}`, /^5:\d+ wrong_type .*not a block with patterns/u],
    [`${before}, mask: { patterns: [] }, ${after}`, /^5:\d+ stage_option .*would mask nothing/u],
    [
      `${before}, mask: { also: ["(a"] }, ${after}`,
      /^5:\d+ stage_option .*also\[0\] .*missing clos/u,
    ],
    [
      `${before}, mask: { also: ["(?=a)"] }, ${after}`,
      /^5:\d+ stage_option .*also\[0\] looks ahead, \(\?=\.\.\.\), as RE2 cannot/u,
    ],
    [
      `${before}, mask: { also: ["\\bA1\\b"] }, ${after}`,
      /^5:\d+ stage_option .*also\[0\] holds a control character.* '\\bA1\\b'/u,
    ],
    [
      `${before}, mask: { also: ["(?<!a)b"] }, ${after}`,
      /^5:\d+ stage_option .*also\[0\] looks behind, \(\?<!/u,
    ],
    [
      `${before}, mask: { also: ["a*"] }, ${after}`,
      /^5:\d+ stage_option .*matches the empty text; write \+ in place of \*/u,
    ],
    [
      `${before}, mask: { also: ['a[0-9]|'] }, ${after}`,
      /^5:\d+ stage_option .*matches the empty text beside a \|; write 'a\[0-9\]'/u,
    ],
    [
      String.raw`${before}, mask: { also: ['a\\d{6}'] }, ${after}`,
      /^5:\d+ stage_option .*has two backslashes, .*: write 'a\\d\{6\}'/u,
    ],
    [
      `${before}, mask: { with: '[{type}]' }, ${after}`,
      /^5:\d+ stage_option .*mean \{kind\}\?; $/u,
    ],
    [`${before}, mask: { also: [".*"] }, ${after}`, /^5:\d+ stage_option .*matches every text/u],
    [`${before}, mask: { with: 10.0.0.1 }, ${after}`, /^5:\d+ stage_option .*masked again, as ip/u],
    [
      `${before}, route: { capability: chat }, mask, balance, transform: chat, meter`,
      /^5:\d+ late_stage .*"route" has read the request before .*put it right after "validate"$/u,
    ],
    [`auth, mask, validate: chat-completion, ${after}`, /^5:\d+ missing_fact .*"request"/u],
  ];
  for (const [stages, says] of faults) {
    it(`are checked at boot: ${stages.replace(`${before}, `, '').replace(after, '…')}`, async () => {
      const found = await stageFaults(stages);
      expect(found).to.have.length(1);
      expect(found[0]).to.match(says);
    });
  }

  it('may be left out', async () => {
    for (const stage of [
      'mask',
      'mask: {}',
      'mask: { patterns: [email, card, iban, ip, phone] }',
    ]) {
      expect(await stageFaults(`${before}, ${stage}, ${after}`)).to.deep.equal([]);
    }
  });
});
