// Made by `npm run types` from schemas/provider.schema.json.

/** none, bearer, optional-bearer, { header, prefix, required } or { signer } */
export type AuthBlock =
  | string
  | {
      /** a header's name */
      header?: string;
      /** text */
      prefix?: string;
      /** true or false */
      required?: boolean;
      /** the name or ./path.js of a module that signs requests */
      signer?: string;
    };
/** a path such as /chat/completions */
export type OperationPath = string;
/** a path such as /images or /models/{model}, or a template of one */
export type Address = string | {};
/**
 * a list of words
 *
 *
 * Items: a word of three letters or more
 */
export type Words = string[];
/** Items: a field's name */
export type Fields = string[];
/** a duration such as 500ms, 30s, 2m or 1h */
export type Duration = string;
/** a whole number of tokens, 0 or more */
export type Tokens = number;

/** providers/NAME.yaml: how one kind of upstream is reached. */
export interface ProviderManifest {
  /** the provider's display name */
  name: string;
  /** a URL; {region}, {resource}, {project} and {api_version} are keys of the entry */
  base_url?: string;
  auth?: AuthBlock;
  headers?: {
    /** text */
    [k: string]: string;
  };
  operations: {
    chat?: ChatBlock;
    embedding?: OperationBlock;
    moderation?: OperationBlock;
    speech?: OperationBlock;
    transcription?: TranscriptionBlock;
    image?: ImageBlock;
    video?: VideoBlock;
    'video.submit'?: SubmitBlock;
    'video.status'?: StatusBlock;
    'video.result'?: ResultBlock;
    'video.content'?: ContentBlock;
    'video.cancel'?: CancelBlock;
  };
  errors?: ErrorsBlock;
  /** a module's name or ./path.js */
  in_process?: string;
  settings?: {
    [k: string]: unknown;
  };
  passthrough?: Fields;
  drop?: Fields;
  rename?: {
    /** a field's name */
    [k: string]: string;
  };
  timeout?: ManifestTimeout;
  poll_interval?: Duration;
  on_abort?: 'abort' | 'drain';
  hidden_tokens?: HiddenTokensBlock;
  /** a whole number of tokens, 0 or more */
  image_tokens?: number;
  wire?: {
    [k: string]: unknown;
  };
}
export interface ChatBlock {
  path: OperationPath;
  /** a codec's name or ./path.js */
  codec: string;
  /** a whole number of choices a call, 1 to 128 */
  max?: number;
  /** bytes where the upstream follows no URLs */
  image_urls?: 'bytes';
}
export interface OperationBlock {
  path: OperationPath;
  /** a codec's name or ./path.js */
  codec: string;
}
export interface TranscriptionBlock {
  path: OperationPath;
  /** a codec's name or ./path.js */
  codec: string;
  translate?: OperationPath;
}
export interface ImageBlock {
  path: Address;
  /** a codec's name or ./path.js */
  codec?: string;
  /** a whole number of images a call, 1 to 10 */
  max?: number;
  headers?: Headers;
  accepts?: ImageAccepts;
  /** form: the request goes out as multipart/form-data; data URLs are its files */
  send?: 'form';
  request?: Template;
  poll?: ImagePollBlock;
  edit?: ImageEditBlock;
  response?: ImageResponse;
}
export interface Headers {
  /** text */
  [k: string]: string;
}
export interface ImageAccepts {
  /**
   * a list of sizes
   *
   *
   * Items: a size such as 1024x1024
   */
  size?: string[];
  quality?: ('standard' | 'hd' | 'low' | 'medium' | 'high' | 'auto')[];
  style?: ('natural' | 'vivid')[];
}
/**
 * a template: text that starts with $ is a path such as $.size.width; blocks and lists are
 * templates of their parts, and what is absent is left out. $ is the call in requests, the state in paths of questions, the body in responses, the item inside do; $call, $body, $state, $status and $model have names where they are known. Operators: const, object, default, each/where/do, when/then/else, map/from/else, concat, join/with, merge, equals, starts/with, not, all, any, nearest_ratio/of, jmespath
 */
export interface Template {
  [k: string]: unknown;
}
/** where images are asked for that the first answer only begins */
export interface ImagePollBlock {
  path: Address;
  pending: Template;
}
/** where and how images are edited; its answer is that of images */
export interface ImageEditBlock {
  path: Address;
  request?: Template;
}
export interface ImageResponse {
  images: Template;
  usage?: Template;
  error?: Template;
}
export interface VideoBlock {
  /** a codec's name or ./path.js */
  codec: string;
  /** a whole number of videos a call, 1 to 4 */
  max?: number;
}
export interface SubmitBlock {
  path: Address;
  /** a whole number of videos a task, 1 to 4 */
  max?: number;
  headers?: Headers;
  accepts?: VideoAccepts;
  request: Template;
  response: SubmitResponse;
}
export interface VideoAccepts {
  aspect_ratio?: ('16:9' | '9:16')[];
  resolution?: ('720p' | '1080p' | '4k')[];
  /**
   *
   * Items: a whole number of seconds
   */
  duration_seconds?: number[];
  /**
   *
   * Items: true or false
   */
  generate_audio?: boolean[];
}
export interface SubmitResponse {
  /** a block of templates: what is remembered of a task */
  state: {};
}
export interface StatusBlock {
  path: Address;
  headers?: Headers;
  response: StatusResponse;
}
export interface StatusResponse {
  status: Template;
  error?: Template;
  videos?: Template;
}
export interface ResultBlock {
  path: Address;
  headers?: Headers;
  response: ResultResponse;
}
export interface ResultResponse {
  videos: Template;
  error?: Template;
}
export interface ContentBlock {
  /** true or false */
  credentials?: boolean;
}
export interface CancelBlock {
  /** POST, PUT or DELETE */
  method?: 'POST' | 'PUT' | 'DELETE';
  path: Address;
  headers?: Headers;
}
export interface ErrorsBlock {
  message?: Template;
  code?: Template;
  /** the name, in lower case, of a header that holds the code */
  code_header?: string;
  policy?: Words;
  rejected?: Words;
  context?: Words;
  credentials?: Words;
  missing?: Words;
  rate_limited?: Words;
  quota?: Words;
  overloaded?: Words;
  timeout?: Words;
}
export interface ManifestTimeout {
  connect?: Duration;
  first_byte?: Duration;
  idle?: Duration;
  total?: Duration;
}
/** tokens that it adds to every prompt and charges for */
export interface HiddenTokensBlock {
  base?: Tokens;
  /** a whole number of tokens, 0 or more */
  tools?: number;
}
