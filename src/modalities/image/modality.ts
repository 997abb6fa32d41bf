import type { Modality } from '../../pipeline/modality.js';
import { spendingOperation } from '../../pipeline/operation.js';
import { unaryPlan } from '../../pipeline/unary-work.js';
import { wholeAnswer } from '../../pipeline/work.js';
import { imageEdit } from './formats/image-edit.js';
import {
  imageDefaults,
  imageGeneration,
  priced,
  type ImageFormat,
} from './formats/image-generation.js';
import { openAiImage, openAiImageEdit } from './formats/openai-image.js';
import { readImage } from './manifest.js';
import { isByTokens } from '../../billing/price-shape.js';
import { readImagePrices } from './price-block.js';
import { imageBill, imageMaxCost, type ImageTerms } from './price.js';
import { sampleBill } from './sample-bill.js';
import { sendImages, type ImageAnswer } from './send.js';

const FORMATS: readonly ImageFormat[] = [imageGeneration, imageEdit, openAiImage, openAiImageEdit];

/** The size of most images. The memory for them is reserved before the call is sent. */
const IMAGE_BYTES = 1024 ** 2;

const plan = unaryPlan({
  name: 'image',
  formats: FORMATS,
  upstreamsOf: priced,
  answerBytes: ({ n }) => n * IMAGE_BYTES,
  maxCost: imageMaxCost,
  bills_errors: true,
  send: (call, upstream, { client, services }) => sendImages(call, upstream, client, services),
  answer: (answer, terms, format) =>
    wholeAnswer({
      provider: terms.provider.name,
      ignored: answer.ignored,
      bill: () => billOf(answer, terms),
      write: (bill) => format.write(answer, bill),
    }),
});

async function billOf({ usages, delivered }: ImageAnswer, terms: ImageTerms) {
  const bill = await imageBill(usages, delivered, terms);
  return { ...bill, counts: { images: delivered.length } };
}

/** Images from a prompt, and from other images. */
export const image: Modality = {
  name: 'image',
  formats: FORMATS,
  endpoints: [
    {
      name: 'hosted-images',
      at: 'GET /images/{id}',
      stages: ['hosted-image'],
    },
  ],
  operations: [spendingOperation('image', imageGeneration.name)],
  tasks: {},
  plan,
  configuration: {
    refinements: [],
    units: {
      input_per_million: { pays: ['image'], isWanted: isByTokens },
      cached_input_per_million: { pays: ['image'], is_class: true },
      image_input_per_million: { pays: ['image'], is_class: true },
      output_per_million: { pays: ['image'], isWanted: isByTokens },
      image_output_per_million: { pays: ['image'], is_class: true },
      per_image: {
        pays: ['image'],
        read: readImagePrices,
        isWanted: (given) => !isByTokens(given),
      },
      // Read as those of chat.
      tiers: { pays: ['image'], is_class: true },
    },
    manifest: { served_by: [['image']], read: readImage },
    does: 'makes images',
    model_names: /^(?:dall-e|gpt-image|imagen)-/,
    fields: {
      own: [],
      held: [],
      refused: [],
      default_schemas: ['openai-image', 'openai-image-edit'],
      undefaulted: ['mask', 'stream', 'partial_images'],
    },
  },
  documentation: {
    example: sampleBill,
    defaults: imageDefaults,
    sampleCall: (model) => ({
      path: '/v1/images/generations',
      body: { model, prompt: 'A lighthouse at dawn' },
      client: {
        method: 'images.generate',
        python: 'answer.data[0].url',
        node: 'answer.data[0].url',
      },
    }),
    playground: { title: 'Images', ideas: ['A lighthouse at dawn', 'A toll gate in the rain'] },
  },
};
