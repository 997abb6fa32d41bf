import type { ImageCall } from '../../../../src/modalities/image/codec.js';

/** A call with a prompt alone. */
export const PLAIN_CALL: ImageCall = {
  prompt: 'a cat',
  n: 1,
  size: undefined,
  quality: undefined,
  style: undefined,
  response_format: 'url',
  fields: {},
};
