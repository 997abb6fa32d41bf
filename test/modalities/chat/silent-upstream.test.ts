import { expect } from 'chai';
import { chatJson, chatSse, sse, type Step } from '../../helpers/upstream.js';
import { until } from '../../helpers/until.js';
import { dataOf, HELLO, scriptedGateways } from '../../money/helpers/scripted-gateway.js';
import type { ScriptedGateway } from '../../money/helpers/scripted-gateway.js';

const SOON = 'keep_alive: 100ms';
const TWO = '{ provider: first }, { provider: second }';

/** A promise, and the function that resolves it. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** The text of a stream; `onBegin` is called when its first bytes have arrived. */
async function readStream(response: Response, onBegin: () => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    if (text === '') onBegin();
    text += decoder.decode(bytes as Uint8Array, { stream: true });
  }
  return text;
}

/** The path, body, first bytes and last event of a stream in each format. */
const FORMATS: [string, string, object, string, RegExp][] = [
  ['chat', '/v1/chat/completions', HELLO, ': keep-alive\n\n', /data: \{"error":\{[^\n]*\}\n\n$/u],
  [
    'messages',
    '/v1/messages',
    { ...HELLO, max_tokens: 50 },
    'event: ping\ndata: {"type":"ping"}\n\n',
    /event: error\ndata: \{"type":"error","error":\{"type":"api_error"[^\n]*\n\n$/u,
  ],
  [
    'responses',
    '/v1/responses',
    { model: 'm', input: 'Hello' },
    ': keep-alive\n\n',
    /event: response.failed\n[^\n]*\n\n$/u,
  ],
  [
    'gemini',
    '/v1beta/models/m:streamGenerateContent?alt=sse',
    { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    ': keep-alive\n\n',
    /data: \{"error":\{[^\n]*\}\s+$/u,
  ],
];

describe('a stream whose upstream is silent before its first output', () => {
  const open = scriptedGateways();

  const ask = (gateway: ScriptedGateway, path: string, body: object): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(path.startsWith('/v1beta') ? body : { ...body, stream: true }),
    });

  for (const [name, path, body, opening, failure] of FORMATS) {
    it(`begins with a keep-alive, and then falls back: ${name}`, async () => {
      const { passed, open: answer } = gate();
      const first: Step = { hold: passed, status: 500 };
      const scripts = { first, second: chatSse(['Good', ' day']) };
      const gateway = await open(scripts, { settings: SOON, upstreams: TWO });
      const response = await ask(gateway, path, body);
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-request-id')).to.be.a('string');
      const text = await readStream(response, answer);
      expect(text).to.match(/^(?::|event: ping)/u);
      expect(text.startsWith(opening), text.slice(0, 80)).to.equal(true);
      expect(text).to.include('Good').and.include(' day');
      expect(text).not.to.match(failure);
      await until(async () => (await gateway.charges()).length === 1, 'the charge');
    });

    it(`ends with the error of its last upstream, for no charge: ${name}`, async () => {
      const { passed, open: answer } = gate();
      const failing: Step = { hold: passed, status: 500 };
      const gateway = await open({ first: failing }, { settings: SOON });
      const response = await ask(gateway, path, body);
      let text = '';
      // An API without a mark for the end breaks the connection off.
      await readStream(response, answer).then(
        (whole) => (text = whole),
        () => (text = ''),
      );
      if (name !== 'gemini') expect(text).to.match(failure).and.not.include('[DONE]');
      await gateway.settled();
      expect(await gateway.charges()).to.deep.equal([]);
      const { requests } = gateway.gateway.store;
      await until(async () => (await requests.page({ limit: 1 })).length === 1, 'the record');
      const [record] = await requests.page({ limit: 1 });
      expect(record).to.include({ status: 502, code: 'upstream_error' });
    });
  }

  it('falls back although the first upstream had reported its usage', async () => {
    const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 0 } };
    const first = sse([usage, { error: { message: 'Overloaded.', code: 503 } }]);
    const gateway = await open({ first, second: chatSse(['Hello']) }, { upstreams: TWO });
    const response = await gateway.post({ ...HELLO, stream: true });
    expect(await response.text())
      .to.include('Hello')
      .and.include('[DONE]');
  });

  it('began a message with zeros where the upstream had counted the prompt', async () => {
    const event = (type: string, rest: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
    const usage = { input_tokens: 77, cache_read_input_tokens: 20, output_tokens: 1 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage };
    const claude = sse([
      event('message_start', { message }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      event('message_stop', {}),
    ]);
    const started = async (gateway: ScriptedGateway): Promise<unknown> => {
      const response = await ask(gateway, '/v1/messages', { ...HELLO, max_tokens: 50 });
      const [first = '{}'] = dataOf((await response.text()).replaceAll(/^event: .*\n/gmu, ''));
      return (JSON.parse(first) as { message: { usage: unknown } }).message.usage;
    };
    expect(await started(await open(claude, { uses: 'anthropic' }))).to.include(usage);
    // Another upstream counts at the end: then the gateway's own guess stands there.
    const guess = await started(await open(chatSse(['Hello'])));
    expect(guess).to.deep.include({ output_tokens: 0 });
    expect((guess as { input_tokens: number }).input_tokens).to.be.greaterThan(0);
  });

  it('flows on beyond the time of a whole answer', async () => {
    const { passed, open: goOn } = gate();
    const chunk = { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] };
    const end = { choices: [{ index: 0, delta: { content: '!' }, finish_reason: 'stop' }] };
    const flowing = sse([chunk, passed, end, 'data: [DONE]\n\n']);
    const never: Step = { ...chatJson('Hello'), hold: new Promise(() => undefined) };
    const gateway = await open([flowing, never], { provider: 'timeout: { total: 200ms }' });
    const response = await gateway.post({ ...HELLO, stream: true });
    // The time has passed once a whole answer that began later has failed by it.
    const whole = gateway.post(HELLO).then(async (other) => {
      expect(other.status).to.equal(502);
      expect(await other.text()).to.include('(total)');
      goOn();
    });
    expect(await response.text())
      .to.include('"!"')
      .and.include('[DONE]');
    await whole;
  });
});
