import type { Bill } from '../../../billing/bill.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import { isImageCodec, OWN_IMAGE_FIELDS } from '../codec.js';
import type { ImageEditBody } from '../../../schema-types/image-edit.js';
import type { ImageGenerationBody } from '../../../schema-types/image-generation.js';
import type { Model } from '../../../core/model.js';
import { editWork, imageEdit } from './image-edit.js';
import { imageGeneration, imageWork, type ImageApi, type ImageFormat } from './image-generation.js';
import type { ImageAnswer } from '../send.js';

/** The answer with usage as OpenAI's clients expect it, and the upstream's words on its images. */
function write({ created, data, words }: ImageAnswer, { usage }: Bill): object {
  const { prompt_tokens: input_tokens, completion_tokens: output_tokens } = usage;
  const { image_input_tokens: image_tokens = 0 } = usage;
  const total_tokens = input_tokens + output_tokens;
  const input_tokens_details = { text_tokens: input_tokens - image_tokens, image_tokens };
  return {
    created,
    ...words,
    data,
    usage: { input_tokens, input_tokens_details, output_tokens, total_tokens },
  };
}

/**
 * This API's own fields in a valid body, and its default form of images: base64 for models that
 * answer in base64 at their own API, as the clients of GPT image models expect.
 */
function apiOf(body: Readonly<Record<string, unknown>>, model: Model): ImageApi {
  const { passthrough, upstreams } = model;
  // What the model passes on by itself is sent as it is.
  const given = OWN_IMAGE_FIELDS.filter(
    (name) => (body[name] ?? null) !== null && !passthrough.has(name),
  );
  const [first] = upstreams;
  const codec = first?.provider.operations.get('image')?.codec;
  const isBase64 = first && isImageCodec(codec) && codec.answers_base64?.(first);
  return {
    own_fields: Object.fromEntries(given.map((name) => [name, body[name]])),
    response_format: isBase64 ? 'b64_json' : 'url',
  };
}

export const openAiImage: ImageFormat = {
  ...imageGeneration,
  name: 'openai-image',
  endpoint: spendingEndpoint('openai-images', 'POST /openai/v1/images/generations', {
    modality: 'image',
    format: 'openai-image',
  }),
  description: {
    summary: "Create images, in OpenAI's format",
    status: 200,
    content: { 'application/json': 'openai-image#/$defs/answer' },
  },
  // The bodies satisfy the schemas that refine those from which the types are generated.
  read: (body, model) => imageWork(body as ImageGenerationBody, model, apiOf({ ...body }, model)),
  write,
};

export const openAiImageEdit: ImageFormat = {
  ...imageEdit,
  name: 'openai-image-edit',
  endpoint: spendingEndpoint('openai-image-edits', 'POST /openai/v1/images/edits', {
    modality: 'image',
    format: 'openai-image-edit',
  }),
  description: {
    summary: "Edit images, in OpenAI's format",
    details: 'A form with files, or JSON with the same fields, where a file is a `data:` URL.',
    status: 200,
    content: { 'application/json': 'openai-image#/$defs/answer' },
  },
  read: (body, model) => editWork(body as ImageEditBody, model, apiOf({ ...body }, model)),
  write,
};
