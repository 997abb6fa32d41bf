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

/** A tool as the client knows it. */
export interface ClientTool {
  name: string;
  namespace?: string;
  /** It takes a text instead of arguments. */
  is_custom?: boolean;
}

/** The tools of a request by the one name that an upstream knows them by. */
export type ClientTools = ReadonlyMap<string, ClientTool>;

/** A chat request as the chosen model takes it. */
export interface ChatWork {
  kind: 'chat';
  call: ChatCall;
  size: PromptSize;
  /** Set where a client asked for the usage of its stream. */
  include_usage?: boolean;
  /** Set where the client's format knows tools under more than a name. */
  tools?: ClientTools;
  /** Names of the fields that were left out, for the header `tollgate-ignored`. */
  ignored: readonly string[];
}
