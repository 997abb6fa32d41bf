import type { Bill } from '../../../billing/bill.js';
import { spendingEndpoint } from '../../../pipeline/spending.js';
import { imageEdit } from './image-edit.js';
import { imageGeneration, type ImageFormat } from './image-generation.js';
import type { ImageAnswer } from '../send.js';

/** The answer with usage as OpenAI's clients expect it: input and output tokens. */
function write({ created, data }: ImageAnswer, { usage }: Bill): object {
  const { prompt_tokens: input_tokens, completion_tokens: output_tokens } = usage;
  const total_tokens = input_tokens + output_tokens;
  return { created, data, usage: { input_tokens, output_tokens, total_tokens } };
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
  write,
};
