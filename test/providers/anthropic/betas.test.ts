import { expect } from 'chai';
import { chat as anthropic } from '../../../providers/anthropic.js';
import { chat as bedrock } from '../../../providers/bedrock.js';
import { chat as vertex } from '../../../providers/vertex.js';
import type { ChatCall, ChatCodec } from '../../../src/modalities/chat/codec.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

/** What Claude Code asks for, and a feature that costs more. */
const ASKED = [
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'effort-2025-11-24',
  'thinking-display-updates-2026-08-18',
  'safeguards-2027-01-01',
  'context-1m-2025-08-07',
];
const ALL = ASKED.slice(0, -1);

const ORIGINAL = {
  system: [],
  messages: [{ role: 'user' as const, content: 'Hi' }],
  tools: [],
  effort: undefined,
  betas: ASKED,
};
const CALL: ChatCall = {
  messages: [{ role: 'user', content: 'Hi' }],
  stream: false,
  n: 1,
  max_tokens: 9,
  fields: {},
  original: ORIGINAL,
};

interface Wire {
  codec: ChatCodec;
  wire?: object;
  sent: string[];
  find: (encoded: ReturnType<ChatCodec['encode']>) => unknown;
}

const fromHeader: Wire['find'] = ({ headers }) => headers?.['anthropic-beta'];
const fromBody: Wire['find'] = ({ body }) =>
  (body as { anthropic_beta?: string[] }).anthropic_beta?.join(',');
const fromModelFields: Wire['find'] = ({ body }) => {
  const fields = (body as { additionalModelRequestFields?: { anthropic_beta?: string[] } })
    .additionalModelRequestFields;
  return fields?.anthropic_beta?.join(',');
};

const WIRES: Record<string, Wire> = {
  Anthropic: { codec: anthropic, sent: ALL, find: fromHeader },
  'Vertex AI': {
    codec: vertex,
    sent: ['interleaved-thinking-2025-05-14', 'thinking-display-updates-2026-08-18'],
    find: fromHeader,
  },
  "Bedrock's Converse": {
    codec: bedrock,
    sent: ['effort-2025-11-24', 'thinking-display-updates-2026-08-18'],
    find: fromModelFields,
  },
  "Bedrock's InvokeModel": {
    codec: bedrock,
    wire: { invoke_claude: true },
    sent: ['effort-2025-11-24', 'thinking-display-updates-2026-08-18'],
    find: fromBody,
  },
};

describe('features that a client asks for by anthropic-beta', () => {
  for (const [name, { codec, wire = {}, sent, find }] of Object.entries(WIRES)) {
    const provider = (more: object = {}) =>
      providerAt('http://fake.invalid', { wire, ...more } as Parameters<typeof providerAt>[1]);
    const model = 'claude-opus-4-8';

    it(`reach ${name} as far as it takes them, and without those that cost more`, () => {
      const encoded = codec.encode(CALL, upstreamAt(provider(), { model }));
      expect(find(encoded)).to.equal(sent.join(','));
      expect(encoded.ignored).to.include('anthropic-beta');
    });

    it(`leave no trace at ${name} where nobody asks`, () => {
      const { original: _, ...plain } = CALL;
      const encoded = codec.encode(plain, upstreamAt(provider(), { model }));
      expect(find(encoded)).to.equal(undefined);
    });

    it(`are those of the operator at ${name}, where there is a list`, () => {
      const upstream = upstreamAt(provider(), { model, set: { anthropic_beta: ['own-2026'] } });
      const found = find(codec.encode(CALL, upstream));
      expect(found).to.equal(find === fromHeader ? undefined : 'own-2026');
      const headers = { 'Anthropic-Beta': 'own-2026' };
      const by_header = codec.encode(CALL, upstreamAt(provider({ headers }), { model }));
      expect(find(by_header)).to.equal(undefined);
    });
  }
});

/** As Claude Code asks for them: the results are of the calls of the answer, by their IDs. */
const SAFEGUARDS = [
  { type: 'dangerous_tool_use', classifier_context: { permission_mode: 'auto' } },
];
const RESULTS = [
  {
    type: 'dangerous_tool_use',
    status: { type: 'available', tool_uses: { toolu_01AbC: { type: 'not_flagged' } } },
  },
];
const FEATURE = 'dangerous-tool-use-2026-09-03';
const REVIEWED: ChatCall = {
  ...CALL,
  original: { ...ORIGINAL, betas: [FEATURE] },
  others: [
    { path: ['safeguards'], value: SAFEGUARDS },
    { path: ['of_next_year'], value: 1 },
  ],
};

describe('safeguards, without which an agent pays for reviews of its own', () => {
  const model = 'claude-opus-4-8';
  for (const [name, { codec, wire = {}, find }] of Object.entries(WIRES)) {
    if (name.includes('Converse')) continue;
    const upstream = upstreamAt(
      providerAt('http://fake.invalid', { wire } as Parameters<typeof providerAt>[1]),
      { model },
    );

    it(`reach ${name} together with their feature, and never alone`, () => {
      const encoded = codec.encode(REVIEWED, upstream);
      expect(find(encoded)).to.equal(FEATURE);
      expect(encoded.body).to.deep.include({ safeguards: SAFEGUARDS });
      const others = name === 'Anthropic' ? 1 : undefined;
      expect((encoded.body as { of_next_year?: number }).of_next_year).to.equal(others);
      if (name === 'Anthropic') return;
      const alone = codec.encode({ ...REVIEWED, original: ORIGINAL }, upstream);
      expect(alone.body).to.not.have.property('safeguards');
    });

    it(`bring back their results from ${name}`, () => {
      const content = [{ type: 'tool_use', id: 'toolu_01AbC', name: 'a', input: {} }];
      const body = {
        type: 'message',
        content,
        stop_reason: 'tool_use',
        usage: { input_tokens: 1, output_tokens: 1 },
        safeguard_results: RESULTS,
      };
      const reply = codec.decode(body, REVIEWED, upstream);
      expect(reply.others).to.deep.equal({ safeguard_results: RESULTS });
      expect(reply.choices[0]?.tool_calls?.[0]?.id).to.equal('toolu_01AbC');
    });
  }
});
