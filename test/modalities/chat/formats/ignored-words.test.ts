import { expect } from 'chai';
import { ask } from '../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { chatJson, startUpstream, type FakeUpstream } from '../../../helpers/upstream.js';

const CLAUDE = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Good day.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 9, output_tokens: 5 },
};
const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const PARTS = [{ text: 'Hi' }];

/** A request whose upstream cannot take one field, and what the client calls that field. */
interface Row {
  ignored: string;
  path: string;
  body: object;
}

const ROWS: readonly Row[] = [
  {
    ignored: 'generationConfig.topP',
    path: '/v1beta/models/claude:generateContent',
    body: { contents: [{ parts: PARTS }], generationConfig: { topP: 0.5 } },
  },
  {
    ignored: 'generationConfig.presencePenalty',
    path: '/v1beta/models/claude:generateContent',
    body: { contents: [{ parts: PARTS }], generationConfig: { presencePenalty: 0.5 } },
  },
  {
    ignored: 'input[].content[].detail',
    path: '/v1/responses',
    body: {
      model: 'claude',
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: PNG, detail: 'high' }] }],
    },
  },
  {
    ignored: 'output_config.effort',
    path: '/v1/messages',
    body: {
      model: 'plain',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
      output_config: { effort: 'low' },
    },
  },
];

describe('tollgate-ignored', () => {
  let claude: FakeUpstream;
  let plain: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    const headers = { 'content-type': 'application/json' };
    claude = await startUpstream({ headers, body: JSON.stringify(CLAUDE) });
    plain = await startUpstream(chatJson('Good day.'));
    gateway = await startGateway(`owners: { acme: { name: Acme } }
providers:
  claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant-secret }
  plain: { uses: llama-cpp, base_url: '${plain.url}' }
models:
  claude:
    &model { owner: acme, capabilities: [chat, vision], upstreams: [{ provider: claude, model: claude-opus-5 }], price: { input_per_million: 1, output_per_million: 2 } }
  plain: { <<: *model, upstreams: [{ provider: plain, model: m }] }
`);
  });
  after(async () => {
    await gateway.close();
    await Promise.all([claude.close(), plain.close()]);
  });

  for (const { ignored, path, body } of ROWS) {
    it(`calls a field ${ignored}, as its client did, not by its name in chat completions`, async () => {
      const answer = await ask(gateway, path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.headers.get('tollgate-ignored')).to.equal(ignored);
    });
  }
});
