import { expect } from 'chai';
import { pino } from 'pino';
import { embedding } from '../../src/modalities/embedding/formats/embedding.js';
import { chatCompletion } from '../../src/modalities/chat/formats/chat-completion.js';
import { completions } from '../../src/modalities/chat/formats/completions.js';
import type { ChatFormat, ChatStreamWriter } from '../../src/modalities/chat/formats/format.js';
import {
  generateContent,
  streamGenerateContent,
} from '../../src/modalities/chat/formats/generate-content.js';
import { messages } from '../../src/modalities/chat/formats/messages.js';
import { openAiChat } from '../../src/modalities/chat/formats/openai-chat.js';
import { responses } from '../../src/modalities/chat/formats/responses.js';
import { chatJson, chatSse, type Step } from '../helpers/upstream.js';
import {
  scriptedGateways,
  type ScriptedGateway,
  type ScriptedGatewayOptions,
} from './helpers/scripted-gateway.js';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const GEMINI = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };

/** Each client format with its paths and its body. */
const FORMATS: [whole: ChatFormat, streamed: ChatFormat, path: string, body: object][] = [
  [chatCompletion, chatCompletion, '/v1/chat/completions', { messages: MESSAGES }],
  [openAiChat, openAiChat, '/openai/v1/chat/completions', { messages: MESSAGES }],
  [messages, messages, '/v1/messages', { messages: MESSAGES, max_tokens: 50 }],
  [responses, responses, '/v1/responses', { input: 'Hello' }],
  [completions, completions, '/v1/completions', { prompt: 'Hello' }],
  [generateContent, streamGenerateContent, '/v1beta/models/m:generateContent', GEMINI],
];

/** A fault of ours in the middle of a call: each method of a writer fails in its turn. */
const FAULTS: Record<string, (writer: ChatStreamWriter) => Partial<ChatStreamWriter>> = {
  'while it writes the first delta': () => ({ frame: fail }),
  'after it has written a delta': (writer) => {
    let written = 0;
    return {
      frame: (deltas) => {
        written += 1;
        return written > 1 ? fail() : writer.frame(deltas);
      },
    };
  },
  'while it writes the end': () => ({ end: fail }),
  'while it writes the end, and then the error': () => ({ end: fail, error: fail }),
};

function fail(): never {
  throw new TypeError('A fault of our own.');
}

/** The writer with some methods replaced. */
function spoilt(writer: ChatStreamWriter, methods: Partial<ChatStreamWriter>): ChatStreamWriter {
  return new Proxy(writer, {
    get: (target, name) => {
      const own: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name, target);
      return typeof own === 'function' ? (own.bind(target) as unknown) : own;
    },
  });
}

describe('a fault of the gateway itself', () => {
  const open = scriptedGateways();
  let restore: (() => void)[] = [];
  let lines: string[] = [];

  afterEach(() => {
    for (const one of restore.splice(0).reverse()) one();
  });

  /** Replaces a method of a format until the test ends. */
  function replace<Name extends 'write' | 'stream'>(
    format: ChatFormat,
    name: Name,
    method: ChatFormat[Name],
  ): void {
    const own = { ...format };
    Object.assign(format, { [name]: method });
    restore.push(() => Object.assign(format, own));
  }

  const start = (step: Step, options: ScriptedGatewayOptions = {}): Promise<ScriptedGateway> => {
    lines = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    return open(step, { log, ...options });
  };

  const ask = (gateway: ScriptedGateway, path: string, body: object): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.secret}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ ...(path.includes('/models/') ? {} : { model: 'm' }), ...body }),
    });

  /** Nothing was charged, no hold is left, and the log has the fault. */
  async function refuseCharge(gateway: ScriptedGateway): Promise<void> {
    await gateway.settled();
    expect(await gateway.charges(), 'charges').to.deep.equal([]);
    expect(lines.join(''), 'log').to.include('A fault of our own.');
  }

  for (const [whole, streamed, path, body] of FORMATS) {
    it(`is 500 and charges nothing for a whole answer of ${whole.name}`, async () => {
      replace(whole, 'write', fail);
      const gateway = await start(chatJson('Hi'));
      const response = await ask(gateway, path, body);
      expect(response.status).to.equal(500);
      await response.text();
      await refuseCharge(gateway);
    });

    it(`ends a stream of ${streamed.name} with an error, and charges nothing`, async () => {
      const own = { ...streamed };
      for (const [when, fault] of Object.entries(FAULTS)) {
        replace(streamed, 'stream', (...parts) => {
          const writer = own.stream(...parts);
          return spoilt(writer, fault(writer));
        });
        const gateway = await start(chatSse(['Hi', ' there', '.']));
        const isPath = path.includes('/models/');
        const to = isPath ? path.replace(':generate', ':streamGenerate') + '?alt=sse' : path;
        const response = await ask(gateway, to, isPath ? body : { ...body, stream: true });
        const text = await response.text().catch((error: unknown) => String(error));
        if (!when.includes('and then')) expect(text, when).to.match(/error|terminated/u);
        expect(text, when).not.to.match(/DONE|message_stop|response\.completed|finishReason/u);
        if (text.includes('response.failed')) {
          expect(text, when).to.match(/^event: response\.created\n/u);
        }
        await refuseCharge(gateway);
      }
    });
  }

  it('is 500 and charges nothing for vectors', async () => {
    const own = { ...embedding };
    Object.assign(embedding, { write: fail });
    restore.push(() => Object.assign(embedding, own));
    const data = [{ index: 0, embedding: [0.5] }];
    const step = { body: JSON.stringify({ data, usage: { prompt_tokens: 1, total_tokens: 1 } }) };
    const price = '{ input_per_million: 1 }';
    const gateway = await start(step, { price, capabilities: 'embedding' });
    expect((await ask(gateway, '/v1/embeddings', { input: 'Hello' })).status).to.equal(500);
    await refuseCharge(gateway);
  });
});
