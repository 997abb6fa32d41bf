import { expect } from 'chai';
import { ask } from '../../../helpers/ask.js';
import { startClaude } from '../../../helpers/claude-server.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { PNG } from '../../../helpers/text-gateway.js';
import { chatJson, startUpstream, type FakeUpstream } from '../../../helpers/upstream.js';

const DATA = PNG.split(',')[1];
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } };
const PDF = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
};
const STORED = { type: 'document', source: { type: 'file', file_id: 'f' } };
const TEXT = { type: 'text', text: 'Hi' };
const USED = { type: 'tool_use', id: 'c1', name: 'look', input: {} };
const INLINE = { inlineData: { mimeType: 'image/png', data: DATA } };
const FILE = { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0xLjQK' } };
const SOUND = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };

const said = (...content: object[]): object => ({ role: 'user', content });
const result = (...content: object[]): object => ({
  type: 'tool_result',
  tool_use_id: 'c1',
  content,
});
const messages = (model: string, ...turns: object[]) => ({
  path: '/v1/messages',
  body: { model, max_tokens: 9, system: [TEXT], messages: turns },
});
const gemini = (model: string, contents: object[], more: object = {}) => ({
  path: `/v1beta/models/${model}:generateContent`,
  body: { systemInstruction: { parts: [{ text: 'Hi' }] }, contents, ...more },
});
const responses = (model: string, more: object) => ({
  path: '/v1/responses',
  body: { model, instructions: 'Hi', ...more },
});

interface Row {
  title: string;
  asked: { path: string; body: object };
  field: string;
}

const ROWS: readonly Row[] = [
  {
    title: 'an image for a model without vision, Messages',
    asked: messages('blind', said(TEXT), { role: 'assistant', content: 'Hi' }, said(TEXT, IMAGE)),
    field: 'messages[2].content[1]',
  },
  {
    title: 'a file in a result, Messages',
    asked: messages('plain', said(TEXT), { role: 'assistant', content: [USED] }, said(result(PDF))),
    field: 'messages[2].content[0].content[0]',
  },
  {
    title: 'a file that an upstream does not take, Messages',
    asked: messages('plain', said(TEXT, PDF)),
    field: 'messages[0].content[1]',
  },
  {
    title: 'a file by its ID, Messages to Claude',
    asked: messages('claude', said(TEXT), { role: 'assistant', content: 'Hi' }, said(TEXT, STORED)),
    field: 'messages[2].content[1]',
  },
  {
    title: 'too many stop sequences, Messages',
    asked: {
      path: '/v1/messages',
      body: {
        model: 'plain',
        max_tokens: 9,
        messages: [said(TEXT)],
        stop_sequences: ['a', 'b', 'c', 'd', 'e'],
      },
    },
    field: 'stop_sequences',
  },
  {
    title: 'an image for a model without vision, Gemini',
    asked: gemini('blind', [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'a' }] },
      { role: 'model', parts: [{ text: 'b' }] },
      { role: 'user', parts: [{ text: 'Look:' }, INLINE] },
    ]),
    field: 'contents[3].parts[1]',
  },
  {
    title: 'a file that an upstream does not take, Gemini',
    asked: gemini('plain', [{ role: 'user', parts: [{ text: 'Look:' }, FILE] }]),
    field: 'contents[0].parts[1]',
  },
  {
    title: 'too many stop sequences, Gemini',
    asked: gemini('plain', [{ role: 'user', parts: [{ text: 'Hi' }] }], {
      generationConfig: { stopSequences: ['a', 'b', 'c', 'd', 'e'] },
    }),
    field: 'generationConfig.stopSequences',
  },
  {
    title: 'a sound for a model that hears nothing, Responses',
    asked: responses('blind', { input: [{ role: 'user', content: [SOUND] }] }),
    field: 'input[0].content[0]',
  },
  {
    title: 'a file that an upstream does not take, Responses',
    asked: responses('plain', {
      input: [
        { role: 'user', content: 'Hi' },
        {
          role: 'user',
          content: [{ type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' }],
        },
      ],
    }),
    field: 'input[1].content[0]',
  },
];

describe('the field that an error names', () => {
  let plain: FakeUpstream;
  let claude: FakeUpstream;
  let gateway: TestGateway;

  before(async () => {
    plain = await startUpstream(chatJson('Good day.'));
    claude = await startClaude(() => [TEXT]);
    gateway = await startGateway(
      `owners: { me: { name: Me } }
providers:
  acme: { uses: ./acme.yaml, base_url: '${plain.url}', api_key: sk-up }
  claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant }
models:
  blind: { owner: me, capabilities: [chat, tools], upstreams: [{ provider: acme }], price: &paid { input_per_million: 1, output_per_million: 2 } }
  plain: { owner: me, capabilities: [chat, vision, tools, file], upstreams: [{ provider: acme }], price: *paid }
  claude: { owner: me, capabilities: [chat, vision, tools, file], upstreams: [{ provider: claude, model: claude-haiku-4-5 }], price: *paid }
`,
      {
        files: {
          'acme.yaml':
            'name: Acme\nauth: bearer\noperations: { chat: { path: /chat/completions, codec: openai } }\nwire: { max_stops: 4 }\n',
        },
      },
    );
  });
  after(async () => {
    await gateway.close();
    await Promise.all([plain.close(), claude.close()]);
  });

  for (const { title, asked, field } of ROWS) {
    it(`was one of another format: ${title}`, async () => {
      const answer = await ask(gateway, asked.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked.body),
      });
      expect(answer.status, answer.text).to.equal(400);
      const { error } = JSON.parse(answer.text) as { error: { message: string; param?: string } };
      expect(error.message.startsWith(`${field}`), error.message).to.equal(true);
      expect(error.message.slice(field.length)).to.match(/^(:| must)/u);
      if (asked.path === '/v1/responses') expect(error.param).to.equal(field);
    });
  }
});
