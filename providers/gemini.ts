import type { VideoCall, VideoCodec, VideoRefusal } from '../src/modalities/video/codec.js';
import { imageCodec } from './gemini-image.js';
import { geminiChat, type OwnWords } from './gemini/chat.js';
import { broken, countIn, listIn, objectIn, textIn, type GeminiObject } from './gemini-wire.js';
import {
  operationIn,
  refusal,
  refuseVeo,
  isVeo2,
  stateText,
  textsIn,
  veoBody,
  veoPath,
  veoProgress,
  type Outcome,
} from './veo.js';
import type { ContentSource } from '../src/core/task.js';

const WORDS: OwnWords = {
  pathOf: (model) => `/models/${model}`,
  tierOf: (serviceTier) => ({ body: { serviceTier } }),
};

/** Chat of the Gemini API. */
export const chat = geminiChat(WORDS);

/** Images of the Gemini API, made by its image models. */
export const image = imageCodec(WORDS);

/**
 * Videos of the Gemini API, made by Veo: one a call, always with sound, and fetched with the key
 * from an address that redirects elsewhere.
 */
export const video: VideoCodec = {
  refuse: (call, { model }) => refuse(call, model),

  submit: (call, upstream) => ({
    method: 'POST',
    path: veoPath('/models', upstream.model),
    body: veoBody(call, upstream, {}),
    credentials: true,
  }),

  submitted: (body, _, upstream) => ({ name: operationIn(body, upstream) }),

  poll: (state) => ({ method: 'GET', path: `/${stateText(state, 'name')}`, credentials: true }),

  polled: (answer, state, upstream) =>
    veoProgress(answer, upstream, (response) =>
      outcome(response, (base64_at) => ({ request: video.poll(state, upstream), base64_at })),
    ),
};

function refuse(call: VideoCall, model: string): VideoRefusal | undefined {
  const general = refuseVeo(call, model);
  if (general) return general;
  if (call.resolution !== '720p' && call.duration_seconds !== 8) {
    return refusal('duration_seconds', `must be 8 for ${call.resolution}`);
  }
  if (!call.generate_audio && !isVeo2(model)) {
    return refusal('generate_audio', 'must be true for this model, which always makes sound');
  }
  return undefined;
}

function outcome(
  response: GeminiObject,
  inside: (at: (string | number)[]) => ContentSource,
): Outcome {
  const made = objectIn(response, 'generateVideoResponse');
  const videos = listIn(made, 'generatedSamples').map((sample, i) => {
    const { uri, isInside } = sampleIn(sample);
    if (uri !== undefined)
      return { request: { method: 'GET' as const, path: uri, credentials: true } };
    if (!isInside) throw broken('The upstream does not say where the video is.');
    return inside([
      'response',
      'generateVideoResponse',
      'generatedSamples',
      i,
      'video',
      'encodedVideo',
    ]);
  });
  return {
    videos,
    reasons: textsIn(made, 'raiMediaFilteredReasons'),
    held_back: countIn(made, 'raiMediaFilteredCount'),
  };
}

function sampleIn(sample: GeminiObject): { uri: string | undefined; isInside: boolean } {
  const film = objectIn(sample, 'video');
  const uri = textIn(film, 'uri');
  const isAddress = uri !== undefined && /^https?:\/\//iu.test(uri) && URL.canParse(uri);
  return {
    uri: isAddress ? uri : undefined,
    isInside: textIn(film, 'encodedVideo') !== undefined,
  };
}
