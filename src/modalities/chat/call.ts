import type { ChatCall } from './codec.js';

/** The parts of a prompt that its price bound is made of. */
export interface PromptSize {
  text_bytes: number;
  messages: number;
  images: number;
  audio_bytes: number;
}

/** A chat request as the chosen model takes it. */
export interface ChatWork {
  kind: 'chat';
  call: ChatCall;
  size: PromptSize;
  /** Set where a client asked for the usage of its stream. */
  include_usage?: boolean;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}
