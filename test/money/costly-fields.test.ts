import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { COSTLY } from '../../src/core/costly-fields.js';
import { load } from '../../src/config/load.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { ask, type Answer } from '../helpers/ask.js';
import { startGateway, type TestGateway } from '../helpers/gateway.js';
import { play, startUpstream, type FakeUpstream } from '../helpers/upstream.js';
import { FORMAT_CLIENTS } from '../modalities/chat/formats/helpers/format-clients.js';
import type { WireFake } from '../modalities/chat/formats/helpers/wires/wire-fake.js';
import { WIRE_FAKES } from '../modalities/chat/formats/helpers/wires/wire-fakes.js';

type Body = Record<string, unknown>;

const folder = new URL('../../providers/', import.meta.url);
/** The manifests of upstreams that chat, by the wire that they speak. */
const MANIFESTS = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml') && !/^(prices|simulator)\.yaml$/u.test(file))
  .flatMap((file) => {
    const data = parse(readFileSync(new URL(file, folder), 'utf8')) as {
      operations: { chat?: { codec: string } };
    };
    const codec = data.operations.chat?.codec;
    return codec === undefined ? [] : [{ name: file.replace('.yaml', ''), codec }];
  });
const WIRES: Record<string, { fake: WireFake | undefined; model: string }[]> = {
  openai: [{ fake: WIRE_FAKES.openai, model: 'any-1' }],
  azure: [{ fake: WIRE_FAKES.openai, model: 'any-1' }],
  anthropic: [{ fake: WIRE_FAKES.anthropic, model: 'claude-sonnet-4-5' }],
  gemini: [{ fake: WIRE_FAKES.gemini, model: 'gemini-3-pro' }],
  vertex: [
    { fake: WIRE_FAKES.gemini, model: 'gemini-3-pro' },
    { fake: WIRE_FAKES.vertex, model: 'claude-sonnet-4-5@20250929' },
  ],
  bedrock: [
    { fake: WIRE_FAKES.bedrock, model: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0' },
    { fake: WIRE_FAKES.bedrock, model: 'amazon.nova-pro-v1:0' },
  ],
};
const PLACES = MANIFESTS.flatMap(({ name, codec }) =>
  (WIRES[codec] ?? []).map(({ fake, model }, at) => ({ id: `${name}-${at}`, name, fake, model })),
);

const DEAR = 'dearer-than-the-hold';
/** They name what is kept elsewhere, so a request with one is refused. */
const STATE: Record<string, readonly string[]> = {
  Responses: ['background', 'conversation', 'previous_response_id'],
  Gemini: ['cached_content'],
};
/** Fields of that name that the format has, and reads itself. */
const OWN: Record<string, readonly string[]> = {
  Responses: ['max_output_tokens'],
  Gemini: ['generation_config', 'tool_config'],
};
const MARK = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const TOOL = { name: 'look', input_schema: { type: 'object', properties: {} } };

/** What a client puts beside a question, in the words of its format, to be cached for an hour. */
const MARKED: Record<string, (body: Body) => Body> = {
  'chat completions': ({ messages, ...body }) => ({
    ...body,
    ...MARK,
    messages: [
      { role: 'system', content: 'Be brief.', ...MARK },
      ...(messages as object[]),
      { role: 'user', content: [{ type: 'text', text: 'And?', ...MARK }] },
    ],
    tools: [{ type: 'function', function: { name: 'look' }, ...MARK }],
  }),
  Messages: ({ messages, ...body }) => ({
    ...body,
    ...MARK,
    system: [{ type: 'text', text: 'Be brief.', ...MARK }],
    messages: [
      ...(messages as object[]),
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't1', name: 'look', input: {}, ...MARK }],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't1',
            content: [{ type: 'text', text: 'sun', ...MARK }],
            ...MARK,
          },
        ],
      },
    ],
    tools: [{ ...TOOL, ...MARK }],
  }),
};

/** Both spellings of a field that a client may try. */
function spellings(field: string): string[] {
  return [
    ...new Set([field, field.replaceAll(/_([a-z])/gu, (_, one: string) => one.toUpperCase())]),
  ];
}

describe('the fields that raise the cost', () => {
  const fakes = new Map<string, FakeUpstream>();
  let gateway: TestGateway;

  before(async () => {
    for (const { id, fake } of PLACES) {
      const answer = await startUpstream((received, response) =>
        play(fake?.answer({ text: 'Cold.' }, received) ?? {}, response),
      );
      fakes.set(id, answer);
    }
    const providers = PLACES.map(
      ({ id, name }) =>
        `  ${id}: { uses: ${name}, base_url: '${fakes.get(id)?.url}', api_key: upstream-key-01` +
        `${name === 'bedrock' ? ', region: eu-central-1' : ''} }`,
    );
    const models = PLACES.map(
      ({ id, model }) => `  ${id}:
    owner: acme
    capabilities: [chat, tools]
    upstreams: [{ provider: ${id}, model: '${model}' }]
    passthrough: [cache_control]
    price: { input_per_million: 3, output_per_million: 15 }`,
    );
    gateway = await startGateway(
      `owners: { acme: { name: Acme } }
providers:
${providers.join('\n')}
models:
${models.join('\n')}
`,
    );
  });
  after(async () => {
    await gateway.close();
    for (const fake of fakes.values()) await fake.close();
  });

  function post(path: string, body: object): Promise<Answer> {
    return ask(gateway, path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-beta': 'context-1m-2025-08-07' },
      body: JSON.stringify(body),
    });
  }

  for (const [client, format] of Object.entries(FORMAT_CLIENTS)) {
    it(`never reach an upstream from a client of ${client}, and are named, at every manifest`, async () => {
      const fields = COSTLY.filter(
        (field) => ![...(STATE[client] ?? []), ...(OWN[client] ?? [])].includes(field),
      );
      const halves = [fields.slice(0, 45), fields.slice(45)];
      for (const { id } of PLACES) {
        for (const half of halves) {
          const more = Object.fromEntries(half.map((field) => [field, DEAR]));
          const body = { ...format.body(id, {}, false), ...more };
          const answer = await post(format.path(id, false), MARKED[client]?.(body) ?? body);
          expect(answer.status, answer.text).to.equal(200);
          const named = answer.headers.get('tollgate-ignored')?.split(', ') ?? [];
          expect(named, id).to.include.members(half);
          if (MARKED[client]) expect(named.join(), id).to.include('cache_control');
          const sent = fakes.get(id)?.requests.at(-1);
          expect(sent?.body, id).not.to.include(DEAR);
          expect(sent?.body, id).not.to.include('1h');
          expect(JSON.stringify(sent?.headers), id).not.to.include('context-1m');
        }
      }
    });

    for (const field of STATE[client] ?? []) {
      it(`are refused where ${client} names what is kept elsewhere by ${field}`, async () => {
        const [, spelt = field] = client === 'Gemini' ? spellings(field) : [];
        const body = { ...format.body('openai-0', {}, false), [spelt]: DEAR };
        const answer = await post(format.path('openai-0', false), body);
        expect(answer.status, answer.text).to.equal(400);
      });
    }
  }

  it('are faults under passthrough, in every spelling', async () => {
    const fields = COSTLY.flatMap(spellings);
    const path = `${gateway.folder}/passthrough.yaml`;
    const model = `
    owner: acme
    capabilities: [chat]
    upstreams: [{ provider: openai, model: any-1 }]
    passthrough: ${JSON.stringify(fields)}
    price: { input_per_million: 3, output_per_million: 15 }`;
    const text = `owners: { acme: { name: A } }\nproviders: { openai: { api_key: k } }\nmodels:\n  one:${model}\n`;
    await writeFile(path, text);
    const { faults } = await load(path, {}, MODALITIES);
    expect(faults.filter(({ code }) => code === 'bad_passthrough')).to.have.length(fields.length);
  });
});
