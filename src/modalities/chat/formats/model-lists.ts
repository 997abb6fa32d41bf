import { publicName, type Capability, type Model } from '../../../core/model.js';
import type { DefaultEndpoint } from '../../../pipeline/modality.js';
import type { ModelListFormat } from '../../../pipeline/model-list-format.js';

/**
 * Anthropic's list. Its entries also have the fields of the contract, as many other clients send
 * Anthropic's headers.
 */
export const anthropicModels: ModelListFormat = {
  known_by: ['anthropic-version', 'x-api-key'],
  has_as_names: true,
  schema: 'anthropic-models',
  one: anthropicModel,
  list: (models) => ({
    object: 'list',
    data: models.map(anthropicModel),
    has_more: false,
    first_id: namesOf(models).at(0) ?? null,
    last_id: namesOf(models).at(-1) ?? null,
  }),
};

function namesOf(models: readonly Model[]): string[] {
  return models.map(publicName);
}

function anthropicModel(model: Model): object {
  const { created, owner, limits } = model;
  const id = publicName(model);
  return {
    type: 'model',
    id,
    // People look for a model by its own name, which the other one may not tell.
    display_name: model.is_as_name ? model.id : id,
    created_at: new Date(created * 1_000).toISOString(),
    max_input_tokens: limits.context ?? null,
    max_tokens: limits.max_tokens ?? null,
    object: 'model',
    created,
    owned_by: owner,
  };
}

const METHODS: readonly [Capability, readonly string[]][] = [
  ['chat', ['generateContent', 'streamGenerateContent', 'countTokens']],
  ['embedding', ['embedContent', 'batchEmbedContents']],
];

/** Google's list. A model that neither chats nor embeds has no methods. */
export const geminiModels: ModelListFormat = {
  known_by: ['x-goog-api-key'],
  schema: 'gemini-models',
  one: geminiModel,
  list: (models) => ({ models: models.map(geminiModel) }),
};

function geminiModel(model: Model): object {
  const { description, limits, capabilities } = model;
  const { context, max_tokens } = limits;
  const id = publicName(model);
  return {
    name: `models/${id}`,
    version: '1',
    displayName: id,
    ...(description !== undefined && { description }),
    ...(context !== undefined && { inputTokenLimit: context }),
    ...(max_tokens !== undefined && { outputTokenLimit: max_tokens }),
    supportedGenerationMethods: METHODS.flatMap(([name, methods]) =>
      capabilities.has(name) ? methods : [],
    ),
  };
}

/** Paths that only clients of one API use. Under `/v1` their headers identify them. */
export const modelEndpoints: readonly DefaultEndpoint[] = [
  ...below('/v1beta', 'gemini', 'generate-content'),
  ...below('/openai/v1', 'openai', 'openai-chat'),
];

function below(path: string, name: string, format: string): DefaultEndpoint[] {
  const at = `GET ${path}/models`;
  return [
    { name: `${name}-models`, at, stages: ['auth', { models: format }] },
    { name: `${name}-model`, at: `${at}/{model}`, stages: ['auth', { model: format }] },
  ];
}
