import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type ConverseCommandInput,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { expect } from 'chai';
import { chat as wire_codec } from '../../../providers/bedrock.js';
import { signFor } from '../../../providers/bedrock/sign.js';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { eventFrame } from '../../helpers/aws-frames.js';
import {
  providerAt,
  startUpstream,
  upstreamAt,
  type FakeUpstream,
} from '../../helpers/upstream.js';
import { preparedCodec } from '../../../src/modalities/chat/prepared-codec.js';

const chat = preparedCodec(wire_codec);

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const NOVA = 'amazon.nova-lite-v1:0';
const KEYS = {
  region: 'eu-central-1',
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  session_token: 'session-1',
};
const BYTES = Buffer.from('hi');
const DATA = BYTES.toString('base64');
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  additionalProperties: false,
};

interface Case {
  name: string;
  call: Pick<ChatCall, 'messages' | 'fields'>;
  /** What the SDK is told; its types must take it. */
  input: ConverseCommandInput;
}

const CASES: readonly Case[] = [
  {
    name: 'a prompt with sampling',
    call: {
      messages: [
        { role: 'system', content: 'Be brief.', cache_control: { type: 'ephemeral' } },
        { role: 'user', content: 'Hi' },
      ],
      fields: { temperature: 0.5, stop: ['END'], top_k: 5 },
    },
    input: {
      modelId: CLAUDE,
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 4_000, temperature: 0.5, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 5 },
    },
  },
  {
    name: 'an image, a file and an answer by a schema',
    call: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: `data:image/png;base64,${DATA}` } },
            {
              type: 'file',
              file: { filename: 'a b.pdf', file_data: `data:application/pdf;base64,${DATA}` },
            },
            { type: 'text', text: 'Sum up.' },
          ],
        },
      ],
      fields: {
        response_format: { type: 'json_schema', json_schema: { name: 'city', schema: SCHEMA } },
      },
    },
    input: {
      modelId: CLAUDE,
      messages: [
        {
          role: 'user',
          content: [
            { image: { format: 'png', source: { bytes: BYTES } } },
            { document: { format: 'pdf', name: 'a b', source: { bytes: BYTES } } },
            { text: 'Sum up.' },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 4_000 },
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'city', schema: JSON.stringify(SCHEMA) } },
        },
      },
    },
  },
  {
    name: 'tools, their results, and reasoning that comes back',
    call: {
      messages: [
        { role: 'user', content: 'Rain?' },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [
            { type: 'reasoning.text', text: 'a', signature: 's', format: 'anthropic-claude-v1' },
            { type: 'reasoning.encrypted', data: DATA, format: 'anthropic-claude-v1' },
          ],
          tool_calls: [
            {
              id: 'call:1',
              type: 'function',
              function: { name: 'w', arguments: '{"city":"Rome"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call:1', content: 'Dry.' },
      ],
      fields: {
        tools: [
          {
            type: 'function',
            function: { name: 'w', description: 'd', parameters: SCHEMA, strict: true },
          },
        ],
        thinking: { type: 'enabled', budget_tokens: 2_000 },
      },
    },
    input: {
      modelId: CLAUDE,
      messages: [
        { role: 'user', content: [{ text: 'Rain?' }] },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'a', signature: 's' } } },
            { reasoningContent: { redactedContent: BYTES } },
            {
              toolUse: { toolUseId: 'call_1_0af63155', name: 'w', input: { city: 'Rome' } },
            },
          ],
        },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'call_1_0af63155', content: [{ text: 'Dry.' }] } }],
        },
      ],
      inferenceConfig: { maxTokens: 4_000 },
      toolConfig: {
        tools: [
          {
            toolSpec: { name: 'w', description: 'd', inputSchema: { json: SCHEMA }, strict: true },
          },
        ],
      },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    },
  },
  {
    name: "Nova's own words",
    call: {
      messages: [{ role: 'user', content: 'Hi' }],
      fields: {
        top_k: 5,
        tools: [{ type: 'function', function: { name: 'w', parameters: SCHEMA } }],
        tool_choice: { type: 'function', function: { name: 'w' } },
      },
    },
    input: {
      modelId: NOVA,
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 4_000 },
      additionalModelRequestFields: { inferenceConfig: { topK: 5 } },
      toolConfig: {
        tools: [{ toolSpec: { name: 'w', inputSchema: { json: SCHEMA } } }],
        toolChoice: { tool: { name: 'w' } },
      },
    },
  },
];

describe("AWS's own SDK", () => {
  let upstream: FakeUpstream;
  let client: BedrockRuntimeClient;

  beforeEach(async () => {
    upstream = await startUpstream(({ path }, response) => {
      const isStream = path.endsWith('-stream');
      const answer = { output: { message: { role: 'assistant', content: [] } } };
      const type = isStream ? 'application/vnd.amazon.eventstream' : 'application/json';
      response.writeHead(200, { 'content-type': type });
      response.end(
        isStream ? eventFrame('messageStop', { stopReason: 'end_turn' }) : JSON.stringify(answer),
      );
    });
    client = new BedrockRuntimeClient({
      region: KEYS.region,
      endpoint: upstream.url,
      requestHandler: new NodeHttpHandler(),
      credentials: {
        accessKeyId: KEYS.access_key_id,
        secretAccessKey: KEYS.secret_access_key,
        sessionToken: KEYS.session_token,
      },
    });
  });

  afterEach(async () => {
    client.destroy();
    await upstream.close();
  });

  for (const { name, call, input } of CASES) {
    it(`takes ${name} in its types, and sends the same as this gateway`, async () => {
      for (const stream of [false, true]) {
        if (stream) await client.send(new ConverseStreamCommand(input));
        else await client.send(new ConverseCommand(input));
        const { path, body } = chat.encode(
          { ...call, stream, n: 1, max_tokens: 4_000 },
          upstreamAt(providerAt(upstream.url), { model: input.modelId ?? '' }),
        );
        const sent = upstream.requests.at(-1);
        expect(sent?.path).to.equal(path);
        expect(body).to.deep.equal(sent?.json);
      }
    });
  }

  it('signs a request as this gateway does', async () => {
    await client.send(new ConverseCommand({ modelId: NOVA, messages: [] }));
    const [sent] = upstream.requests;
    const { authorization = '', 'x-amz-date': date = '' } = sent?.headers ?? {};
    const names = /SignedHeaders=([^,]+)/u.exec(authorization)?.[1]?.split(';') ?? [];
    const signed = names.filter((one) => one !== 'host');
    const headers = signed.map((one) => [one, String(sent?.headers[one])] as const);
    const at = String(date).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/u, '$1-$2-$3T$4:$5:');
    const url = new URL(sent?.path ?? '', upstream.url);
    const request = { method: 'POST', url, headers: Object.fromEntries(headers), body: sent?.body };
    const own = await signFor('bedrock', request, KEYS, Date.parse(at));
    expect(own).to.deep.equal({
      authorization,
      'x-amz-date': date,
      'x-amz-security-token': KEYS.session_token,
    });
  });
});
