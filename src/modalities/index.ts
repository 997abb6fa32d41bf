import type { Modalities } from '../pipeline/modality.js';
import { chat } from './chat/modality.js';
import { embedding } from './embedding/modality.js';
import { image } from './image/modality.js';
import { moderation } from './moderation/modality.js';
import { speech } from './speech/modality.js';
import { transcription } from './transcription/modality.js';
import { video } from './video/modality.js';

/** Every kind of work that the gateway does. */
export const MODALITIES: Modalities = new Map(
  [chat, image, video, embedding, speech, transcription, moderation].map((modality) => [
    modality.name,
    modality,
  ]),
);
