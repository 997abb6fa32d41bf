import { refuseField } from '../../../core/errors.js';
import { base64Of, headOf, isDataUrl } from '../../../lib/data-url.js';
import { sniffImageType } from '../../../lib/image-type.js';
import { spendingEndpoint } from '../../../pipeline/operation.js';
import type { ImageEditBody } from '../../../schema-types/image-edit.js';
import type { Model } from '../../../core/model.js';
import {
  IMAGE_TEXTS,
  imageGeneration,
  imageWork,
  type ImageApi,
  type ImageFormat,
  type ImageWork,
} from './image-generation.js';

/** OpenAI's contract of image edits; the answer is that of image generation. */
export const imageEdit: ImageFormat = {
  ...imageGeneration,
  name: 'image-edit',
  endpoint: spendingEndpoint('image-edits', 'POST /v1/images/edits', {
    modality: 'image',
    format: 'image-edit',
  }),
  form: true,
  description: {
    summary: 'Edit images',
    details: 'A form with files, or JSON with the same fields, where a file is a `data:` URL.',
    status: 200,
    content: { 'application/json': 'image-generation-response' },
  },
  texts: { ...IMAGE_TEXTS, image: 'kept', mask: 'kept' },
  modelOf: (body) => (body as ImageEditBody).model,
  // The body satisfies the schema from which its type is generated.
  read: (body, model) => editWork(body as ImageEditBody, model),
};

/** Fits a valid body of an edit to a model. Throws `GatewayError`. */
export function editWork(whole: ImageEditBody, model: Model, api?: ImageApi): ImageWork {
  const { image, mask, ...body } = whole;
  const images = [image].flat();
  if (images.length > MAX_IMAGES) refuseField('image', `must be at most ${MAX_IMAGES} images`);
  const { call, ignored } = imageWork(body as Parameters<typeof imageWork>[0], model, api);
  return {
    call: {
      ...call,
      images: images.map((one, at) => checked(one, images.length > 1 ? `image[${at}]` : 'image')),
      ...(mask !== undefined && { mask: checked(mask, 'mask') }),
    },
    ignored,
  };
}

const MAX_IMAGES = 16;
const TYPES = ['image/png', 'image/jpeg', 'image/webp'];

/** A data: URL with the type that the first bytes show. */
function checked(text: string, param: string): string {
  const base64 = isDataUrl(text) ? base64Of(text) : '';
  const type = sniffImageType(headOf(base64));
  if (TYPES.includes(type)) return `data:${type};base64,${base64}`;
  return refuseField(param, 'must be a PNG, JPEG or WebP image: a file of a form, or a data: URL');
}
