import { expect } from 'chai';
import { chat as openai } from '../../providers/openai.js';
import { checkOrThrow } from '../../src/gateway/check.js';
import { previewRequests } from '../../src/gateway/preview.js';
import { MODALITIES } from '../../src/modalities/index.js';
import { formatOf } from '../../src/pipeline/modality.js';
import { providerAt, upstreamAt } from '../helpers/upstream.js';

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CONTENTS = [{ parts: [{ text: 'Hi' }] }];
const WAV = `data:audio/wav;base64,${Buffer.from('RIFF....WAVEfmt ').toString('base64')}`;
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The shortest body of each format that spends money. */
const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'chat-completion': { messages: MESSAGES },
  'openai-chat': { messages: MESSAGES },
  completions: { prompt: 'Hi' },
  messages: { messages: MESSAGES, max_tokens: 9 },
  responses: { input: 'Hi' },
  'responses-compact': { input: 'Hi' },
  'generate-content': { contents: CONTENTS },
  'stream-generate-content': { contents: CONTENTS },
  embedding: { input: 'Hi' },
  'embed-content': { content: CONTENTS[0] },
  'batch-embed-contents': { requests: [{ content: CONTENTS[0] }] },
  'image-generation': { prompt: 'A fox' },
  'openai-image': { prompt: 'A fox' },
  'image-edit': { prompt: 'A fox', image: PNG },
  'openai-image-edit': { prompt: 'A fox', image: PNG },
  moderation: { input: 'Hi' },
  speech: { input: 'Hi', voice: 'alloy' },
  transcription: { file: WAV },
  translation: { file: WAV },
  'video-submission': { prompt: 'A fox' },
  'openai-video': { prompt: 'A fox' },
};

/** An upstream that compacts conversations, which the simulator does not. */
const COMPACTING = upstreamAt(
  providerAt('http://127.0.0.1', {
    operations: new Map([['chat', { path: '/chat/completions', max: 1, codec: openai }]]),
    wire: { compaction: ['fake'] },
  }),
);

describe('the preview of requests', () => {
  it('shows a request at each endpoint that spends money', async () => {
    const { configuration } = await checkOrThrow('gateway.yaml', {});
    const models = [...configuration.models.values()];
    const spending = configuration.endpoints.filter(({ stages }) =>
      stages.some(({ name }) => name === 'balance'),
    );
    expect(spending.length).to.be.greaterThan(10);
    for (const endpoint of spending) {
      const { name, path, stages } = endpoint;
      const format = formatOf(MODALITIES, endpoint)?.name ?? '';
      const route = stages.find((stage) => stage.name === 'route')?.option as {
        capability: string;
      };
      const model = models.find(({ capabilities }) =>
        [...capabilities].some((one) => one === route.capability),
      );
      const body = BODIES[format];
      if (!model || !body) throw new Error(`There is no model or no body for ${name} (${format}).`);
      const alone = { ...configuration, endpoints: [endpoint] };
      const able = format === 'responses-compact' ? { ...model, upstreams: [COMPACTING] } : model;
      const { at, upstreams } = await previewRequests(body, able, alone);
      expect(at, name).to.include(path);
      expect(upstreams[0]?.refusal, name).to.equal(null);
      expect(upstreams[0]?.requests, name).to.have.length(1);
    }
  });

  it('refuses an image for a model that sees none, and does not try it in another format', async () => {
    const { configuration } = await checkOrThrow('gateway.yaml', {});
    const blind = [...configuration.models.values()].find(
      ({ capabilities }) => capabilities.has('chat') && capabilities.has('vision'),
    );
    if (!blind) throw new Error('There is no model to take the sight from.');
    const capabilities = new Set([...blind.capabilities].filter((one) => one !== 'vision'));
    const content = [{ type: 'image_url', image_url: { url: PNG } }];
    const body = { messages: [{ role: 'user', content }] };
    const outcome = await previewRequests(body, { ...blind, capabilities }, configuration).then(
      ({ at }) => at,
      (error: unknown) => String(error),
    );
    expect(outcome).to.include('this model does not take images');
  });
});
