import { isRecord } from '../../../lib/objects.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { STABLE_VERSION } from '../../../pipeline/second-path.js';
import type { GenerateContentBody } from '../../../schema-types/generate-content.js';
import { countingEndpoint } from '../count-tokens.js';
import type { ChatFormat } from './format.js';
import { CONTENT_API } from './content-api.js';
import { answerOf } from './generate-content-answer.js';
import { contentRequest } from './generate-content-request.js';
import { normalizeSpelling } from './generate-content-spelling.js';
import { CONTENT_TEXTS } from './generate-content-texts.js';
import { geminiModels } from './model-lists.js';
import { ContentWriter } from './generate-content-stream.js';
import { neededCapabilities } from './needs.js';

/** The Gemini API, for Google's SDKs and the Gemini CLI, with every chat model. */
export const generateContent = contentFormat('generate-content', 'generateContent', false);
/** The same as a stream of partial answers: events, or one list without `alt=sse`. */
export const streamGenerateContent = contentFormat(
  'stream-generate-content',
  'streamGenerateContent',
  true,
);

/** Counts the tokens of a prompt. */
export const countContentTokens: ChatFormat = {
  ...generateContent,
  name: 'count-content-tokens',
  only_counts: true,
  endpoint: countingEndpoint(
    'count-content-tokens',
    'POST /v1beta/models/{model}:countTokens',
    STABLE_VERSION,
  ),
  description: {
    summary: "Count the tokens of a prompt, in Gemini's format",
    details: 'An estimate that costs nothing. Nothing is held for it, and no upstream is asked.',
    status: 200,
    content: { 'application/json': 'count-content-tokens#/$defs/answer' },
  },
  normalize: normalizeCounted,
  count: (totalTokens) => ({ totalTokens }),
};

/** Normalizes a body whose request may be nested in a field of its own. */
function normalizeCounted(body: unknown): unknown {
  if (!isRecord(body)) return body;
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const { [name]: request } = body;
    if (isRecord(request)) Object.assign(body, request);
    delete body[name];
  }
  return normalizeSpelling(body);
}

/** Whether a request calls a method of a model, which only this API does. */
function isCall(method: string, path: string): boolean {
  return method === 'POST' && /^\/v1\/models\/.+:\w+$/u.test(path);
}

function contentFormat(name: string, method: string, streams: boolean): ChatFormat {
  const answer = 'generate-content#/$defs/answer';
  return {
    ...CONTENT_API,
    name,
    owns: (method, path) => path.startsWith('/v1beta/') || isCall(method, path),
    models: geminiModels,
    limit: 'maxOutputTokens',
    endpoint: spendingEndpoint(name, `POST /v1beta/models/{model}:${method}`, {
      modality: 'chat',
      format: name,
      also: STABLE_VERSION,
    }),
    description: {
      summary: `${streams ? 'Stream generated' : 'Generate'} content, in Gemini's format`,
      ...(streams && { details: 'With `alt=sse` as events, else as one list in JSON.' }),
      status: 200,
      content: {
        [streams ? 'text/event-stream' : 'application/json']: answer,
        ...(streams && { 'application/json': 'stream-generate-content#/$defs/list' }),
      },
    },
    normalize: (body) => normalizeSpelling(body),
    needs: neededCapabilities,
    texts: CONTENT_TEXTS,
    // The body was validated, and its type is generated from the schema.
    read: (body, model) => contentRequest(body as GenerateContentBody, model, streams),
    write: (head, reply, bill, request) => answerOf(head, reply, bill, request),
    stream: (head, visible, request, asked) => {
      const as = asked?.query.get('alt') === 'sse' ? 'events' : 'list';
      const { hides_thoughts, unwraps_value } = request;
      return new ContentWriter(head, visible, { as, thoughts: !hides_thoughts, unwraps_value });
    },
  };
}
