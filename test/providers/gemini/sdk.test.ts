import {
  FunctionCallingConfigMode,
  GoogleGenAI,
  ThinkingLevel,
  type Content,
  type GenerateContentConfig,
} from '@google/genai';
import { expect } from 'chai';
import type { ChatCall } from '../../../src/modalities/chat/codec.js';
import { chat as vertex } from '../../../providers/vertex.js';
import { signedId } from '../../../src/lib/tool-id.js';
import { answer, encoded, GEMINI_3 } from '../../helpers/gemini.js';
import {
  providerAt,
  startUpstream,
  upstreamAt,
  type FakeUpstream,
} from '../../helpers/upstream.js';

const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const SHAPE = { type: 'object', properties: { sky: { type: 'string' } } };

const CALL: Partial<ChatCall> = {
  max_tokens: 100,
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Weather here?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I will look.',
      tool_calls: [
        {
          id: signedId('c1', 'QUI='),
          type: 'function',
          function: { name: 'weather', arguments: '{"city":"Oslo"}' },
        },
      ],
    },
    {
      role: 'tool',
      tool_call_id: signedId('c1', 'QUI='),
      content: [
        { type: 'text', text: 'clear' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      ],
    },
  ],
  fields: {
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    seed: 7,
    stop: ['END'],
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    logprobs: true,
    top_logprobs: 2,
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SHAPE } },
    tools: [
      {
        type: 'function',
        function: { name: 'weather', description: 'Now.', parameters: CITY },
      },
      { type: 'google_search' },
    ],
    tool_choice: { type: 'function', function: { name: 'weather' } },
  },
};

const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };

/** The same call in the types of Google's own library. */
const CONTENTS: Content[] = [
  {
    role: 'user',
    parts: [
      { text: 'Weather here?' },
      image,
      { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
    ],
  },
  {
    role: 'model',
    parts: [
      { text: 'I will look.' },
      {
        functionCall: { id: 'c1', name: 'weather', args: { city: 'Oslo' } },
        thoughtSignature: 'QUI=',
      },
    ],
  },
  {
    role: 'user',
    parts: [
      {
        functionResponse: {
          id: 'c1',
          name: 'weather',
          response: { output: 'clear' },
          parts: [image],
        },
      },
    ],
  },
];

const CONFIG: GenerateContentConfig = {
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  maxOutputTokens: 100,
  temperature: 0.5,
  topP: 0.9,
  topK: 40,
  seed: 7,
  stopSequences: ['END'],
  presencePenalty: 0.1,
  frequencyPenalty: 0.2,
  responseLogprobs: true,
  logprobs: 2,
  thinkingConfig: { thinkingLevel: ThinkingLevel.LOW, includeThoughts: true },
  responseMimeType: 'application/json',
  responseJsonSchema: SHAPE,
  tools: [
    {
      functionDeclarations: [{ name: 'weather', description: 'Now.', parametersJsonSchema: CITY }],
    },
    { googleSearch: {} },
  ],
  toolConfig: {
    functionCallingConfig: {
      mode: FunctionCallingConfigMode.ANY,
      allowedFunctionNames: ['weather'],
    },
  },
};

describe("what the codec of Gemini sends, beside Google's own library", () => {
  let google: FakeUpstream;
  beforeEach(async () => {
    const headers = { 'content-type': 'application/json' };
    google = await startUpstream({ headers, body: JSON.stringify(answer([{ text: '{}' }])) });
  });
  afterEach(() => google.close());

  it('is the same, path and body, for a call in which everything is asked', async () => {
    const httpOptions = { baseUrl: google.url, apiVersion: 'v1beta' };
    const library = new GoogleGenAI({ apiKey: 'AIza-test', httpOptions });
    await library.models.generateContent({ model: GEMINI_3, contents: CONTENTS, config: CONFIG });
    const [sent] = google.requests;
    const ours = encoded(CALL, { model: GEMINI_3 });
    expect(ours.body).to.deep.equal(sent?.json);
    expect(`/v1beta${ours.path}`).to.equal(sent?.path);
  });

  it('is the same on Vertex AI', async () => {
    const httpOptions = { baseUrl: google.url, apiVersion: 'v1' };
    const library = new GoogleGenAI({ vertexai: true, apiKey: 'test', httpOptions });
    await library.models.generateContent({ model: GEMINI_3, contents: CONTENTS, config: CONFIG });
    const [sent] = google.requests;
    const call = { messages: [], stream: false, n: 1, max_tokens: undefined, fields: {}, ...CALL };
    const at = upstreamAt(providerAt(google.url), { model: GEMINI_3 });
    const ours = vertex.encode(call, at);
    expect(ours.body).to.deep.equal(sent?.json);
    expect(`/v1${ours.path}`).to.equal(sent?.path);
  });
});
