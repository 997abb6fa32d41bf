import Anthropic, { BadRequestError } from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { ask } from '../../../helpers/ask.js';
import { startGateway, type TestGateway } from '../../../helpers/gateway.js';
import { play, startUpstream, type FakeUpstream, type Step } from '../../../helpers/upstream.js';

const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-8',
  content: [{ type: 'text', text: 'Good day' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: {
    input_tokens: 3,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 5_000,
    output_tokens: 9,
  },
};
const MARK = { cache_control: { type: 'ephemeral' } } as const;
/** The upstream takes this block away if it comes first, alone and as it was. */
const ATTRIBUTION = {
  type: 'text',
  text: 'x-anthropic-billing-header: cc_version=2.1.330.84c; cc_entrypoint=sdk-cli; cch=00a1f;',
} as const;
const SYSTEM = [
  ATTRIBUTION,
  { type: 'text', text: "You are Claude Code, Anthropic's official CLI for Claude.", ...MARK },
  { type: 'text', text: '\n# Tone\n  Be brief. Grüße — “quoted”\u2028\n', ...MARK },
] as const;
const MESSAGES = [
  { role: 'user', content: [{ type: 'text', text: 'Write a file hello.txt', ...MARK }] },
  { role: 'system', content: [{ type: 'text', text: '# Environment\n - Linux', ...MARK }] },
] as const;
const BODY = {
  model: 'claude',
  max_tokens: 32_000,
  system: SYSTEM,
  messages: MESSAGES,
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
};
const HEADERS = {
  'content-type': 'application/json',
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'claude-code-20250219,context-management-2025-06-27,effort-2025-11-24',
  'anthropic-dangerous-direct-browser-access': 'true',
  'user-agent': 'claude-cli/2.1.330 (external, sdk-cli)',
  'x-app': 'cli',
  'x-claude-code-session-id': '00000000-0000-4000-8000-000000000001',
  'x-claude-code-agent-id': 'a1',
  'x-claude-code-request-class': 'main',
  'x-claude-code-next-year': 'x',
};

const whole = (): Step => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(ANSWER),
});

/** The lines of Claude Code's contract with a gateway, at an upstream of the same API. */
describe('what Claude Code wants of a gateway', () => {
  let claude: FakeUpstream;
  let gateway: TestGateway;
  let step: Step;

  before(async () => {
    claude = await startUpstream((_, response) => play(step, response));
    gateway = await startGateway(`owners: { a: { name: A } }
providers: { claude: { uses: anthropic, base_url: '${claude.url}', api_key: sk-ant } }
models:
  claude:
    owner: a
    capabilities: [chat, vision, tools, file]
    upstreams: [{ provider: claude, model: claude-opus-4-8 }]
    limits: { max_tokens: 32000 }
    price: { input_per_million: 5, cached_input_per_million: 0.5, cache_write_per_million: 6.25, output_per_million: 25 }
`);
  });
  beforeEach(() => (step = whole()));
  after(async () => {
    await gateway.close();
    await claude.close();
  });

  const post = (body: object = BODY, path = '/v1/messages?beta=true') =>
    ask(gateway, path, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
  const sent = () => claude.requests.at(-1)?.json as Record<string, unknown>;

  it('answers at /v1/messages?beta=true, with nothing left out', async () => {
    const { status, headers, text } = await post();
    expect(status, text).to.equal(200);
    expect(headers.get('tollgate-ignored')).to.equal(null);
    expect(JSON.parse(text)).to.deep.include({ model: 'claude', usage: ANSWER.usage });
  });

  it("sends the client's features, its own version and key, and none of its other headers", async () => {
    await post();
    const { headers = {} } = claude.requests.at(-1) ?? {};
    expect(headers).to.include({
      'anthropic-beta': HEADERS['anthropic-beta'],
      'anthropic-version': '2023-06-01',
      'x-api-key': 'sk-ant',
    });
    const others = Object.keys(headers).filter((name) => /claude-code|dangerous|app$/u.test(name));
    expect(others).to.deep.equal([]);
  });

  it('leaves the attribution and all blocks behind it as they are, so that caches hit', async () => {
    for (const stream of [false, true]) {
      if (stream) step = { headers: { 'content-type': 'text/event-stream' }, body: '' };
      await post({ ...BODY, stream });
      expect(JSON.stringify(sent().system)).to.equal(JSON.stringify(SYSTEM));
      expect(JSON.stringify(sent().messages)).to.equal(JSON.stringify(MESSAGES));
    }
  });

  it('sends fields together with their features', async () => {
    await post();
    const { thinking, output_config, context_management, metadata } = BODY;
    expect(sent()).to.deep.include({ thinking, output_config, context_management, metadata });
  });

  it('gives back the reviews of calls, under the IDs that the calls have', async () => {
    const safeguards = [
      { type: 'dangerous_tool_use', classifier_context: { permission_mode: 'auto' } },
    ];
    const headers = {
      ...HEADERS,
      'anthropic-beta': `${HEADERS['anthropic-beta']},dangerous-tool-use-2026-09-03`,
    };
    const tools = [{ name: 'Bash', input_schema: { type: 'object', properties: {} } }];
    const call = { type: 'tool_use', id: 'toolu_01AbC', name: 'Bash', input: {} };
    const tool_uses = { [call.id]: { type: 'not_flagged' } };
    const safeguard_results = [{ type: 'dangerous_tool_use', status: { type: 'ok', tool_uses } }];
    const { content: _, ...message } = ANSWER;
    const events = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: call },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', safeguard_results },
        usage: { output_tokens: 9 },
      },
      { type: 'message_stop' },
    ];
    const stream = events
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('');
    const answers = [
      { ...whole(), body: JSON.stringify({ ...ANSWER, content: [call], safeguard_results }) },
      { headers: { 'content-type': 'text/event-stream' }, body: stream },
    ];
    for (const [at, answer] of answers.entries()) {
      step = answer;
      const body = JSON.stringify({ ...BODY, tools, safeguards, stream: at === 1 });
      const path = '/v1/messages?beta=true';
      const { status, text } = await ask(gateway, path, { method: 'POST', headers, body });
      expect(status, text).to.equal(200);
      expect(sent()).to.deep.include({ safeguards });
      expect(claude.requests.at(-1)?.headers).to.include({
        'anthropic-beta': headers['anthropic-beta'],
      });
      expect(text).to.include(`"safeguard_results":${JSON.stringify(safeguard_results)}`);
      expect(text).to.include(`"id":"${call.id}"`);
    }
  });

  it('charges each class of tokens at its price', async () => {
    const { store } = gateway.gateway;
    await post();
    const row = (await store.ledger(gateway.account.id, { limit: 100 })).at(-1);
    // 3 at 5, 200 at 6.25, 5,000 at 0.5 and 9 at 25 dollars per million.
    expect(row?.amount_nano).to.equal(-(15_000n + 1_250_000n + 2_500_000n + 225_000n));
  });

  it("serves Anthropic's own client in its beta namespace", async () => {
    const client = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
    const message = await client.beta.messages.create({
      model: 'claude',
      max_tokens: 50,
      betas: ['effort-2025-11-24'],
      system: [{ ...ATTRIBUTION }],
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(message.usage).to.deep.include(ANSWER.usage);
    expect(sent().system).to.deep.equal([ATTRIBUTION]);
    const { input_tokens } = await client.beta.messages.countTokens({
      model: 'claude',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(input_tokens).to.be.within(5, 15);
  });

  it("keeps the upstream's words of a refusal, by which it corrects its request", async () => {
    const words = 'messages.1.content.0: thinking is bound to a different conversation';
    const error = { type: 'invalid_request_error', message: words };
    step = {
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'error', error }),
    };
    const client = new Anthropic({ apiKey: gateway.secret, baseURL: gateway.url, maxRetries: 0 });
    const refused = await client.messages
      .create({ model: 'claude', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
      .catch((reason: unknown) => reason);
    expect(refused).to.be.instanceOf(BadRequestError);
    expect((refused as BadRequestError).message).to.include(words);
  });

  it('is warmed up by HEAD /api/hello, whatever the status', async () => {
    const { status, text } = await ask(gateway, '/api/hello', { method: 'HEAD' });
    expect([status, text]).to.deep.equal([404, '']);
  });
});
