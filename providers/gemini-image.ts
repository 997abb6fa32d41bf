import type {
  ImageCall,
  ImageCodec,
  ImageReply,
  GeneratedImage,
} from '../src/modalities/image/codec.js';
import type { Encoded } from '../src/core/provider.js';
import { answerIn, listIn, modelOf, objectIn, textIn, type GeminiObject } from './gemini-wire.js';
import { askedTier, type OwnWords } from './gemini/chat.js';
import { CHAT_FIELDS } from './gemini/generation-config.js';
import { countersWith, geminiUsage } from './gemini/usage.js';
import { UpstreamError } from '../src/core/upstream-error.js';
import type { Upstream } from '../src/core/model.js';

/** Width to height, of the shapes that every image model makes. */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '9:16', '16:9', '21:9'] as const;

/** Ends that mean the rules were broken, by the prompt or by the image. */
const AGAINST_THE_RULES =
  /^((IMAGE_)?(SAFETY|PROHIBITED_CONTENT|RECITATION)|LANGUAGE|BLOCKLIST|SPII)$/u;

const SAID_CHARACTERS = 300;

/** Images from Gemini's image models, one at a time. The operator may set their service tier. */
export function imageCodec(words: OwnWords): ImageCodec {
  return { encode: (call, upstream) => encode(call, upstream, words), decode };
}

function encode(call: ImageCall, upstream: Upstream, words: OwnWords): Encoded {
  const { model } = upstream;
  const { service_tier: tier, ...set } = upstream.set;
  const asked = askedTier(tier, words);
  const wanted = call.size && imageConfig(call.size, model);
  const foreign = Object.keys(call.fields).filter(
    (name) => name !== 'seed' && CHAT_FIELDS.has(name),
  );
  return {
    path: `${words.pathOf(modelOf(model))}:generateContent`,
    ...(asked.headers && { headers: asked.headers }),
    body: {
      ...set,
      ...asked.body,
      contents: [{ role: 'user', parts: [{ text: call.prompt }] }],
      generationConfig: {
        ...without(call.fields, foreign),
        responseModalities: ['TEXT', 'IMAGE'],
        ...(wanted && { imageConfig: wanted }),
      },
    },
    ...(foreign.length > 0 && { ignored: foreign }),
  };
}

/** Unknown fields are refused here, and a model's passthrough is made for chat as well. */
function without(fields: ImageCall['fields'], names: readonly string[]): GeminiObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

function imageConfig(
  { width, height }: { width: number; height: number },
  model: string,
): GeminiObject {
  // By area, as a price is bounded: a long and narrow image is no reason to make a dearer one.
  const pixels = width * height;
  const larger = pixels <= 2_048 ** 2 ? '2K' : '4K';
  // The older family makes images of one size, and refuses the field.
  const isSized = pixels > 1_024 ** 2 && !/gemini-2/u.test(model);
  return { aspectRatio: nearestRatio(width / height), ...(isSized && { imageSize: larger }) };
}

function nearestRatio(wanted: number): string {
  const distance = (ratio: string): number => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(width / height / wanted));
  };
  return RATIOS.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

function decode(body: unknown, _: ImageCall, { provider }: Upstream): ImageReply {
  const answer = answerIn(body, provider);
  const candidates = listIn(answer, 'candidates');
  // Images among the thoughts are drafts.
  const parts = candidates
    .flatMap((candidate) => listIn(objectIn(candidate, 'content'), 'parts'))
    .filter((part) => part.thought !== true);
  const images = parts.flatMap(imageIn);
  if (images.length === 0) throw noImage(answer, candidates, parts);
  const usage = geminiUsage(countersWith(undefined, answer), undefined);
  return { images, usage };
}

function imageIn(part: GeminiObject): GeneratedImage[] {
  const data = objectIn(part, 'inlineData');
  const b64_json = textIn(data, 'data');
  const isImage = (textIn(data, 'mimeType') ?? 'image/png').startsWith('image/');
  return b64_json !== undefined && isImage ? [{ b64_json }] : [];
}

function noImage(
  answer: GeminiObject,
  candidates: GeminiObject[],
  parts: GeminiObject[],
): UpstreamError {
  const feedback = objectIn(answer, 'promptFeedback');
  const reasons = candidates.map((candidate) => textIn(candidate, 'finishReason') ?? '');
  const explanation = [
    textIn(feedback, 'blockReasonMessage'),
    ...candidates.map((candidate) => textIn(candidate, 'finishMessage')),
    ...parts.map((part) => textIn(part, 'text')),
  ].find((text) => text !== undefined);
  const words = explanation === undefined ? '' : ` ${explanation.trim().slice(0, SAID_CHARACTERS)}`;
  const blocked = textIn(feedback, 'blockReason');
  const reason = blocked ?? reasons.find((word) => AGAINST_THE_RULES.test(word));
  if (reason !== undefined) {
    return new UpstreamError('policy', `The upstream refused the prompt (${reason}).${words}`);
  }
  const message = `The upstream gave no image.${words}`;
  return new UpstreamError('broken', message, undefined, { isQuoted: words !== '' });
}
