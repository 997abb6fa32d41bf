import type { ChatCall } from './codec.js';

/** What a prompt is made of: its price bound goes by that. */
export interface PromptSize {
  text_bytes: number;
  messages: number;
  images: number;
  /** Pages of files. */
  pages: number;
  /** Images and files that are named by an http(s) URL. */
  urls: number;
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
