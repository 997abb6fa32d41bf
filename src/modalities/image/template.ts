import { pointer as join, type Source } from '../../yaml/source.js';
import type { PartialLoad } from '../../yaml/validate.js';
import {
  formParts,
  type ImageCall,
  type ImageCodec,
  type ImagePolling,
  type ImageReply,
  type GeneratedImage,
} from './codec.js';
import { base64Of, isDataUrl } from '../../lib/data-url.js';
import { isRecord } from '../../lib/objects.js';
import type { ImageBlock, ImagePollBlock } from '../../schema-types/provider.js';
import { classifyErrorInside } from '../../upstream/classify-error.js';
import { unsupportedValue } from '../../mapping/unsupported-value.js';
import { addressFrom } from '../../mapping/address.js';
import { applyOverrides } from '../../mapping/overrides.js';
import { compile } from '../../mapping/compile.js';
import { checkAnswer } from '../../mapping/plain-text.js';
import { headersOf } from '../../mapping/headers.js';
import { TEMPLATE_SCOPES, type TemplateScope } from '../../mapping/template-scopes.js';
import { evaluate } from '../../mapping/scope.js';
import { UpstreamError } from '../../core/upstream-error.js';

const AT = `/operations${join('image')}`;

/** What a list of images has. */
const IMAGES = { name: 'images', wanted: ['url', 'b64_json'], takesText: false };

/**
 * The codec of a manifest's templates for images. `request` makes the body from the call, and
 * `response.images` a list of `{ b64_json or url, revised_prompt }`. A text in `response.error`
 * marks a 2xx answer as an error.
 */
export function mapImages(source: Source, block: PartialLoad<ImageBlock>): ImageCodec {
  const at = (place: TemplateScope, part: string, value: unknown, address = false) =>
    compile(value, AT + part, { source, place, address });
  const { image_request, image_response } = TEMPLATE_SCOPES;
  const response = block.response ?? {};
  const path = at(image_request, '/path', block.path, true);
  const request = at(image_request, '/request', block.request);
  const editPath = at(image_request, '/edit/path', block.edit?.path, true);
  const editRequest = at(image_request, '/edit/request', block.edit?.request);
  const images = at(image_response, '/response/images', response.images);
  const usage = at(image_response, '/response/usage', response.usage);
  const error = at(image_response, '/response/error', response.error);
  const headers = headersOf(block.headers);
  checkAnswer(source, `${AT}/response`, response, IMAGES);
  return {
    ...(block.poll && { poll: pollingOf(source, block.poll) }),
    encode(call, upstream) {
      // Without a quality, the upstream chooses one itself.
      const quality = call.quality === 'auto' ? undefined : call.quality;
      checkAccepted({ ...call, quality }, block);
      const input = { ...call, quality, ...filesOf(call) };
      const names = { call: input, model: upstream.model };
      const [pathTemplate, bodyTemplate] = call.images ? [editPath, editRequest] : [path, request];
      const address = addressFrom(evaluate(pathTemplate, input, names));
      const body = applyOverrides(evaluate(bodyTemplate, input, names), upstream);
      const form = block.send === 'form' ? { form: formParts(body, call) } : {};
      return { path: address, headers, body, ...form };
    },
    decode(body, call, { model, provider }): ImageReply {
      const names = { call, body, model };
      const reported = evaluate(error, body, names);
      if ((typeof reported === 'string' && reported !== '') || isRecord(reported))
        throw classifyErrorInside({ error: reported }, provider);
      const made = evaluate(images, body, names);
      const found = (Array.isArray(made) ? made : []).flatMap(imageIn);
      if (found.length === 0) {
        throw new UpstreamError('broken', 'The upstream gave no image.');
      }
      return { images: found.slice(0, call.n), usage: evaluate(usage, body, names) };
    },
  };
}

function pollingOf(source: Source, block: PartialLoad<ImagePollBlock>): ImagePolling {
  const place = TEMPLATE_SCOPES.image_response;
  const path = compile(block.path, `${AT}/poll/path`, { source, place, address: true });
  const pending = compile(block.pending, `${AT}/poll/pending`, { source, place });
  return {
    address: (body, call, { model }) => addressFrom(evaluate(path, body, { call, body, model })),
    isPending: (body, call, { model }) => {
      const value = evaluate(pending, body, { call, body, model });
      return value === true || (typeof value === 'string' && value !== '');
    },
  };
}

/** The images to edit, in the forms that templates can use. */
function filesOf({ images, mask }: ImageCall): Fields {
  const parts = (url: string) => ({
    url,
    base64: base64Of(url),
    mime_type: url.slice('data:'.length, url.indexOf(';')),
  });
  return {
    ...(images && { images: images.map(parts) }),
    ...(mask !== undefined && { mask: parts(mask) }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function checkAccepted(call: ImageCall, { accepts }: PartialLoad<ImageBlock>): void {
  const size = call.size && `${call.size.width}x${call.size.height}`;
  const values = { size, quality: call.quality, style: call.style };
  const refusal = unsupportedValue(values, accepts, '');
  if (refusal) throw new UpstreamError('rejected', refusal.message);
}

function imageIn(value: unknown): GeneratedImage[] {
  if (!isRecord(value)) return [];
  const { b64_json, url, revised_prompt } = value;
  const revised = isText(revised_prompt) ? { revised_prompt } : {};
  if (isText(b64_json)) return [{ b64_json: base64Of(b64_json), ...revised }];
  if (!isText(url)) return [];
  if (isDataUrl(url)) return [{ b64_json: base64Of(url), ...revised }];
  return /^https?:\/\//iu.test(url) ? [{ url, ...revised }] : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
