import { expect } from 'chai';
import { startOpenaiGateway, type OpenaiGateway } from '../../../helpers/openai-gateway.js';
import { chat, errorOf } from '../../../helpers/ask.js';

type Fields = Record<string, unknown>;

const hello = [{ role: 'user', content: 'Hello!' }];
const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
const said = (content: unknown): Fields => ({ messages: [{ role: 'user', content }] });
const message = (fields: object): Fields => ({ messages: [{ ...hello[0], ...fields }] });

/** Just inside what specification 2.1 to 2.3 and 8 allow: [what, fields beside a sound request]. */
const INSIDE: [string, Fields][] = [
  ['temperature 0', { temperature: 0 }],
  ['temperature 2', { temperature: 2 }],
  ['top_p 0', { top_p: 0 }],
  ['top_p 1', { top_p: 1 }],
  ['presence_penalty -2', { presence_penalty: -2 }],
  ['presence_penalty 2', { presence_penalty: 2.0 }],
  ['frequency_penalty -2', { frequency_penalty: -2 }],
  ['frequency_penalty 2', { frequency_penalty: 2 }],
  ['max_tokens 1', { max_tokens: 1 }],
  ['max_completion_tokens 1', { max_completion_tokens: 1 }],
  ['both names of one limit', { max_tokens: 7, max_completion_tokens: 7 }],
  ['n 1', { n: 1 }],
  ['n 128', { n: 128, max_tokens: 1 }],
  ['stop as a string', { stop: '\n' }],
  ['no stop sequence', { stop: [] }],
  ['four stop sequences', { stop: ['a', 'b', 'c', 'd'] }],
  ['user', { user: 'user-1' }],
  ['stream false', { stream: false }],
  ['stream true', { stream: true }],
  ['role system', message({ role: 'system' })],
  ['role assistant', message({ role: 'assistant' })],
  ['role developer', message({ role: 'developer' })],
  ['role tool', { messages: [...hello, { role: 'tool', content: 'x', tool_call_id: 'a' }] }],
  ['a name', message({ name: 'ann' })],
  ['empty text', said('')],
  ['a text part', said([{ type: 'text', text: 'Hello!' }])],
  ['an image part', said([{ type: 'text', text: 'What?' }, image])],
  ['an audio part', said([audio])],
  [
    'a message without content that calls tools',
    {
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
    },
  ],
  ['an unknown field', { flavour: 'vanilla' }],
];

const OUTSIDE: [string, Fields, string][] = [
  ['no model', { model: undefined }, 'model'],
  ['an empty model', { model: '' }, 'model'],
  ['a model that is a number', { model: 5 }, 'model'],
  ['no messages', { messages: undefined }, 'messages'],
  ['empty messages', { messages: [] }, 'messages'],
  ['messages as text', { messages: 'Hello!' }, 'messages'],
  ['a message as text', { messages: ['Hello!'] }, 'messages[0]'],
  ['no role', message({ role: undefined }), 'messages[0].role'],
  ['an unknown role', { messages: [...hello, { role: 'robot', content: '' }] }, 'messages[1].role'],
  ['a role that is a number', message({ role: 1 }), 'messages[0].role'],
  ['no content', { messages: [...hello, { role: 'user' }] }, 'messages[1].content'],
  ['null content', said(null), 'messages[0].content'],
  ['content that is a number', said(5), 'messages[0].content'],
  ['content that is an object', said({ type: 'text', text: 'x' }), 'messages[0].content'],
  ['a name that is a number', message({ name: 5 }), 'messages[0].name'],
  ['a part as text', said(['Hello!']), 'messages[0].content[0]'],
  ['a part without type', said([{ text: 'x' }]), 'messages[0].content[0].type'],
  ['an unknown part type', said([image, { type: 'video' }]), 'messages[0].content[1].type'],
  ['a text part without text', said([{ type: 'text' }]), 'messages[0].content[0].text'],
  ['a text part with a number', said([{ type: 'text', text: 5 }]), 'messages[0].content[0].text'],
  [
    'an image part without image_url',
    said([{ type: 'image_url' }]),
    'messages[0].content[0].image_url',
  ],
  [
    'image_url as text',
    said([{ type: 'image_url', image_url: 'x' }]),
    'messages[0].content[0].image_url',
  ],
  [
    'an image without url',
    said([{ type: 'image_url', image_url: {} }]),
    'messages[0].content[0].image_url.url',
  ],
  [
    'an audio part without input_audio',
    said([{ type: 'input_audio' }]),
    'messages[0].content[0].input_audio',
  ],
  [
    'audio without data',
    said([{ ...audio, input_audio: { format: 'wav' } }]),
    'messages[0].content[0].input_audio.data',
  ],
  [
    'audio without format',
    said([{ ...audio, input_audio: { data: 'UA==' } }]),
    'messages[0].content[0].input_audio.format',
  ],
  ['temperature below 0', { temperature: -0.01 }, 'temperature'],
  ['temperature above 2', { temperature: 2.01 }, 'temperature'],
  ['temperature as text', { temperature: '1' }, 'temperature'],
  ['top_p below 0', { top_p: -0.01 }, 'top_p'],
  ['top_p above 1', { top_p: 1.01 }, 'top_p'],
  ['top_p as text', { top_p: '1' }, 'top_p'],
  ['presence_penalty below -2', { presence_penalty: -2.01 }, 'presence_penalty'],
  ['presence_penalty above 2', { presence_penalty: 2.01 }, 'presence_penalty'],
  ['presence_penalty as text', { presence_penalty: '0' }, 'presence_penalty'],
  ['frequency_penalty below -2', { frequency_penalty: -2.01 }, 'frequency_penalty'],
  ['frequency_penalty above 2', { frequency_penalty: 2.01 }, 'frequency_penalty'],
  ['frequency_penalty as text', { frequency_penalty: '0' }, 'frequency_penalty'],
  ['max_tokens 0', { max_tokens: 0 }, 'max_tokens'],
  ['max_tokens -1', { max_tokens: -1 }, 'max_tokens'],
  ['max_tokens 1.5', { max_tokens: 1.5 }, 'max_tokens'],
  ['max_tokens as text', { max_tokens: '5' }, 'max_tokens'],
  ['max_completion_tokens 0', { max_completion_tokens: 0 }, 'max_completion_tokens'],
  ['two limits that differ', { max_tokens: 7, max_completion_tokens: 8 }, 'max_completion_tokens'],
  ['n 0', { n: 0 }, 'n'],
  ['n 129', { n: 129 }, 'n'],
  ['n 1.5', { n: 1.5 }, 'n'],
  ['n as text', { n: '1' }, 'n'],
  ['five stop sequences', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
  ['a stop sequence that is a number', { stop: ['a', 5] }, 'stop[1]'],
  ['stop as a number', { stop: 5 }, 'stop'],
  ['user as a number', { user: 5 }, 'user'],
  ['stream as text', { stream: 'true' }, 'stream'],
];

describe('validation of a chat request', () => {
  let acme: OpenaiGateway;
  const sound = { model: 'acme-all', messages: hello };

  before(async () => {
    acme = await startOpenaiGateway();
  });
  after(() => acme.close());

  for (const [what, fields] of INSIDE) {
    it(`takes ${what}`, async () => {
      expect((await chat(acme, { ...sound, ...fields })).status).to.equal(200);
    });
  }

  for (const [what, fields, param] of OUTSIDE) {
    it(`refuses ${what}, naming ${param}`, async () => {
      const before = acme.upstream.requests.length;
      const answer = await chat(acme, { ...sound, ...fields });
      const error = errorOf(answer);
      expect(answer.status).to.equal(400);
      expect(error).to.include({ param, code: 'invalid_request', type: 'invalid_request_error' });
      expect(error.message).to.include(param).and.to.match(/\.$/u);
      expect(acme.upstream.requests).to.have.length(before);
    });
  }
});
