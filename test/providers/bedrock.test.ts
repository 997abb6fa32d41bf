import { expect } from 'chai';
import { pino } from 'pino';
import type { ChatMessage } from '../../src/schema-types/chat-completion.js';
import { eventFrame, exceptionFrame, flipped } from '../helpers/aws-frames.js';
import { joined } from '../helpers/conversation.js';
import { signatureFault } from '../helpers/signature-v4.js';
import { play, type Received, type Step } from '../helpers/upstream.js';
import {
  dataOf,
  HELLO,
  onlyCharge,
  scriptedGateways,
  type ScriptedGatewayOptions,
} from '../money/helpers/scripted-gateway.js';

const KEYS = {
  region: 'eu-central-1',
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const SESSION_TOKEN = 'session-0123456789abcdef';
const SECRETS = [KEYS.access_key_id, KEYS.secret_access_key, SESSION_TOKEN];
const CLAUDE = 'us.anthropic.claude-sonnet-4-6';
const USAGE = { inputTokens: 9, outputTokens: 5, totalTokens: 14 };

/** Behind the model `m`: a model of Bedrock, reached with AWS keys. */
function bedrock(
  model = 'amazon.nova-lite-v1:0',
  more: ScriptedGatewayOptions = {},
): ScriptedGatewayOptions {
  const keys = Object.entries(KEYS).map(([name, value]) => `${name}: "${value}"`);
  return {
    uses: 'bedrock',
    key: '',
    provider: [...keys, `session_token: ${SESSION_TOKEN}`].join(', '),
    upstreams: `{ provider: up, model: "${model}" }`,
    model: 'passthrough: [reasoning_content, reasoning_effort]',
    ...more,
  };
}

function answered(content: readonly object[], stopReason = 'end_turn'): Step {
  const message = { role: 'assistant', content };
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ output: { message }, stopReason, usage: USAGE }),
  };
}

function streamed(frames: readonly Uint8Array[]): Step {
  return { headers: { 'content-type': 'application/vnd.amazon.eventstream' }, chunks: frames };
}

const text = (said: string): Buffer =>
  eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: said } });
const END = [
  eventFrame('messageStop', { stopReason: 'end_turn' }),
  eventFrame('metadata', { usage: USAGE }),
];

interface Body {
  choices: { message: ChatMessage; finish_reason: string }[];
  usage: Record<string, unknown>;
  error: { code: string; message: string };
}

const bodyOf = async (answer: Response): Promise<Body> => (await answer.json()) as Body;

describe('Bedrock behind the gateway', () => {
  const open = scriptedGateways();

  it('is asked with a signature and the session token, and charged by its usage', async () => {
    const house = await open(answered([{ text: 'Hi' }]), bedrock());
    const { choices } = await bodyOf(await house.post(HELLO));
    expect(choices[0]?.message.content).to.equal('Hi');
    const [asked] = house.upstream.requests;
    expect(asked?.path).to.equal('/model/amazon.nova-lite-v1%3A0/converse');
    expect(asked && signatureFault(asked, KEYS)).to.equal(undefined);
    expect(asked?.headers['x-amz-security-token']).to.equal(SESSION_TOKEN);
    expect(JSON.parse((await onlyCharge(house)).usage ?? '')).to.include({
      prompt_tokens: 9,
      completion_tokens: 5,
    });
  });

  it('is asked with a Bedrock API key as bearer token, and then without a signature', async () => {
    const options = { ...bedrock(), key: 'bedrock-key-0123456789', provider: 'region: eu-west-1' };
    const house = await open(answered([{ text: 'Hi' }]), options);
    expect((await house.post(HELLO)).status).to.equal(200);
    const [asked] = house.upstream.requests;
    expect(asked?.headers.authorization).to.equal('Bearer bedrock-key-0123456789');
    expect(asked?.headers).to.not.have.property('x-amz-date');
  });

  it('streams its text, and ends with usage and [DONE]', async () => {
    const house = await open(streamed([text('Good '), text('day'), ...END]), bedrock());
    const events = dataOf(await (await house.post({ ...HELLO, stream: true })).text());
    expect(house.upstream.requests[0]?.path).to.match(/converse-stream$/u);
    expect(events.join('')).to.contain('"content":"Good "').and.to.contain('"content":"day"');
    expect(events.at(-1)).to.equal('[DONE]');
    expect((await onlyCharge(house)).estimated).to.equal(false);
  });

  const broken: [string, readonly Uint8Array[]][] = [
    ['the checksum of a frame is wrong', [flipped(text('day'), 70), ...END]],
    ['a frame breaks off', [text('day').subarray(0, 40)]],
    ['an exception comes', [exceptionFrame('throttlingException', 'slow down')]],
    ['messageStop is missing', [text('day')]],
  ];
  for (const [what, frames] of broken) {
    it(`ends a stream with an error and an estimated charge where ${what}`, async () => {
      const house = await open(streamed([text('Good '), ...frames]), bedrock());
      const events = dataOf(await (await house.post({ ...HELLO, stream: true })).text());
      expect(events.join('')).to.contain('"content":"Good "');
      expect(events.at(-1)).to.contain('"upstream_error"');
      expect((await onlyCharge(house)).estimated).to.equal(true);
    });
  }

  const errors: [number, string, number, RegExp][] = [
    [400, 'Input is too long for requested model.', 400, /"context_length_exceeded"/u],
    [400, 'Input Tokens Exceeded: it exceeds maximum length.', 400, /"context_length_exceeded"/u],
    [400, 'Malformed input request', 400, /Malformed input request/u],
    [400, 'The provided model identifier is invalid.', 502, /does not serve this model/u],
    [400, 'Model a with on-demand throughput isn’t supported.', 502, /does not serve this model/u],
    [403, "You don't have access to the model with that ID.", 502, /does not serve this model/u],
    [403, 'The security token included in the request is expired', 502, /credentials/u],
    [403, 'User: arn:aws:iam::1:user/a is not authorized to do it', 502, /credentials/u],
    [403, 'INVALID_PAYMENT_INSTRUMENT: A valid payment instrument is due', 502, /out of credit/u],
    [404, 'Could not resolve the foundation model from it.', 502, /does not serve this model/u],
    [408, 'Model has timed out in processing the request.', 502, /timed out/u],
    [424, 'The model failed.', 502, /status 424/u],
    [429, 'Too many tokens, please wait before trying again.', 502, /limiting the rate/u],
    [429, 'The model is not ready for inference.', 502, /overloaded/u],
    [500, 'Internal', 502, /status 500/u],
    [503, 'Bedrock is unable to process your request.', 502, /overloaded/u],
  ];
  for (const [status, message, due, words] of errors) {
    it(`answers ${due} with ${words.source} where it says ${status} "${message}"`, async () => {
      const headers = { 'content-type': 'application/json', 'x-amzn-errortype': 'X:http://a.b' };
      const house = await open({ status, headers, body: JSON.stringify({ message }) }, bedrock());
      const answer = await house.post(HELLO);
      expect(answer.status).to.equal(due);
      expect(await answer.text()).to.match(words);
      expect(await house.charges()).to.deep.equal([]);
    });
  }

  for (const [status, type, due, words] of [
    [400, 'ConflictException:http://internal.amazon.com/coral/', 502, /overloaded/u],
    [400, 'com.amazon#ServiceQuotaExceededException', 502, /out of credit/u],
    [429, 'ModelNotReadyException', 502, /overloaded/u],
    [400, 'ValidationException:http://internal.amazon.com/coral/', 400, /No\./u],
    [400, 'a b#c:d', 400, /No\./u],
  ] as const) {
    it(`answers ${due} where the header of an error names "${type}"`, async () => {
      const headers = { 'content-type': 'application/json', 'x-amzn-errortype': type };
      const house = await open({ status, headers, body: '{"message":"No."}' }, bedrock());
      const answer = await house.post(HELLO);
      expect(answer.status).to.equal(due);
      expect(await answer.text()).to.match(words);
    });
  }

  it('shows no key to the client and none in the log where it repeats them all', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    for (const status of [400, 403]) {
      const message = `The signature does not match: ${SECRETS.join(' ')}`;
      const house = await open(
        { status, body: JSON.stringify({ message }) },
        bedrock(CLAUDE, { log }),
      );
      const said = (await (await house.post(HELLO)).text()) + lines.join('');
      for (const secret of SECRETS) expect(said).to.not.include(secret);
    }
  });

  it('gives n answers by as many calls', async () => {
    const house = await open(answered([{ text: 'Hi' }]), bedrock());
    const { choices, usage } = await bodyOf(await house.post({ ...HELLO, n: 3 }));
    expect(choices.map(({ message }) => message.content)).to.deep.equal(['Hi', 'Hi', 'Hi']);
    expect(usage).to.deep.include({ prompt_tokens: 27, completion_tokens: 15 });
    expect(house.upstream.requests).to.have.length(3);
  });

  it('gets images as bytes, since it follows no URLs (quirk 22)', async () => {
    const house = await open(
      answered([{ text: 'A dot' }]),
      bedrock(CLAUDE, { capabilities: 'chat, vision' }),
    );
    const ask = (url: string): Promise<Response> => {
      const content = [{ type: 'image_url', image_url: { url } }];
      return house.post({ model: 'm', messages: [{ role: 'user', content }] });
    };
    expect((await ask('data:image/png;base64,iVBORw0KGgo=')).status).to.equal(200);
    expect(house.upstream.requests[0]?.json).to.have.deep.nested.property(
      'messages[0].content[0].image',
      { format: 'png', source: { bytes: 'iVBORw0KGgo=' } },
    );
    // The gateway would fetch it, were it not its own.
    const { error } = await bodyOf(await ask(`${house.upstream.url}/a.png`));
    expect(error.message).to.match(/private|public|fetch/u);
    expect(house.upstream.requests).to.have.length(1);
  });

  it('names what it leaves out in the header tollgate-ignored', async () => {
    const house = await open(answered([{ text: 'Hi' }]), bedrock());
    const answer = await house.post({ ...HELLO, presence_penalty: 1, user: 'u-1' });
    expect(answer.headers.get('tollgate-ignored')?.split(', ')).to.include.members([
      'presence_penalty',
      'user',
    ]);
  });
});

const TOOLS = [
  {
    type: 'function',
    function: { name: 'weather', parameters: { type: 'object', properties: {} } },
  },
  { type: 'function', function: { name: 'now' } },
];

type Turn = { role: string; content: Record<string, { toolUseId: string }>[] };

/** What Claude would answer 400 to in a conversation in which it thinks. */
function faultOf(asked: Received): string | undefined {
  const { messages, additionalModelRequestFields } = asked.json as {
    messages: Turn[];
    additionalModelRequestFields?: { thinking?: { type: string } };
  };
  if (signatureFault(asked, KEYS) !== undefined) return 'a wrong signature';
  if (additionalModelRequestFields?.thinking?.type !== 'adaptive') return 'no thinking';
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== (at % 2 === 0 ? 'user' : 'assistant')) return `two turns of ${role}`;
    if (role === 'user') continue;
    const first = JSON.stringify(content[0]);
    if (!first.includes(`"signature":"signed-${at}"`)) return `turn ${at} lacks its signature`;
    const uses = content.flatMap(({ toolUse }) => toolUse?.toolUseId ?? []);
    const results = messages[at + 1]?.content.flatMap(
      ({ toolResult }) => toolResult?.toolUseId ?? [],
    );
    if (uses.join() !== results?.join()) return `${uses.join()} is answered by ${results?.join()}`;
  }
  return undefined;
}

/** Claude's answers of three turns: two calls at once, one call, and a text. */
const CALLS = [['weather', 'now'], ['weather'], []];

function blocksOf(turn: number, at: number): object[] {
  const reasoningText = { text: `Thought ${at}.`, signature: `signed-${at}` };
  const uses = (CALLS[turn] ?? []).map((name) => ({
    toolUse: { toolUseId: `tooluse_${at}_${name}`, name, input: { turn } },
  }));
  return [
    { reasoningContent: { reasoningText } },
    ...(uses.length > 0 ? uses : [{ text: 'Dry.' }]),
  ];
}

function framesOf(blocks: readonly Record<string, unknown>[], stopReason: string): Buffer[] {
  const frames = blocks.flatMap((block, contentBlockIndex) => {
    const delta = (said: object): Buffer =>
      eventFrame('contentBlockDelta', { contentBlockIndex, delta: said });
    if ('text' in block) return [delta(block)];
    if ('reasoningContent' in block) {
      const { reasoningText } = block.reasoningContent as {
        reasoningText: { text: string; signature: string };
      };
      const { text: thought, signature } = reasoningText;
      return [thought.slice(0, 4), thought.slice(4)]
        .map((piece) => delta({ reasoningContent: { text: piece } }))
        .concat(delta({ reasoningContent: { signature } }));
    }
    const { input, ...toolUse } = block.toolUse as { input: object };
    return [
      eventFrame('contentBlockStart', { contentBlockIndex, start: { toolUse } }),
      delta({ toolUse: { input: JSON.stringify(input) } }),
      eventFrame('contentBlockStop', { contentBlockIndex }),
    ];
  });
  const stop = eventFrame('messageStop', { stopReason });
  return [...frames, stop, eventFrame('metadata', { usage: USAGE })];
}

function deltasOf(text: string): object[] {
  return dataOf(text)
    .filter((data) => data !== '[DONE]')
    .flatMap((data) => (JSON.parse(data) as { choices: { delta: object }[] }).choices)
    .map(({ delta }) => delta);
}

describe('a conversation with a model of Bedrock that thinks and calls tools', () => {
  const open = scriptedGateways();

  for (const stream of [false, true]) {
    it(`keeps what the model demands back over three turns, ${stream ? 'streamed' : 'whole'}`, async () => {
      const faults: (string | undefined)[] = [];
      const house = await open(async (asked, response) => {
        const turn = faults.length;
        const fault = faultOf(asked);
        faults.push(fault);
        const at = (asked.json as { messages: Turn[] }).messages.length;
        const blocks = blocksOf(turn, at);
        const reason = turn < 2 ? 'tool_use' : 'end_turn';
        const whole = stream
          ? streamed(framesOf(blocks as Record<string, unknown>[], reason))
          : answered(blocks, reason);
        await play(fault === undefined ? whole : { status: 400 }, response);
      }, bedrock(CLAUDE));
      const messages: ChatMessage[] = [{ role: 'user', content: 'Rain?' }];
      for (let turn = 0; turn < 3; turn += 1) {
        const answer = await house.post({
          model: 'm',
          messages,
          tools: TOOLS,
          stream,
          reasoning_effort: 'medium',
        });
        expect(faults.at(-1), await answer.clone().text()).to.equal(undefined);
        const message = stream
          ? (joined(deltasOf(await answer.text())) as ChatMessage)
          : ((await bodyOf(answer)).choices[0]?.message ?? { role: 'assistant' });
        expect(message.reasoning_content).to.equal(`Thought ${turn * 2 + 1}.`);
        messages.push(message);
        for (const call of message.tool_calls ?? []) {
          expect(call.function.arguments).to.equal(JSON.stringify({ turn }));
          messages.push({ role: 'tool', tool_call_id: call.id, content: 'Dry.' });
        }
      }
      expect(faults).to.deep.equal([undefined, undefined, undefined]);
      expect(messages.at(-1)?.content).to.equal('Dry.');
    });
  }
});
