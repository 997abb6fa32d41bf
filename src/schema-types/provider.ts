// Made by `npm run types` from schemas/provider.schema.json.

/**
 * How a call proves who pays: a bearer token that is demanded (`bearer`) or not
 * (`optional-bearer`), a header of another name, or a signature over the request. Default: none.
 */
export type AuthBlock =
  | string
  | {
      /** The header that carries the key. Without it, a `signer` is needed. */
      header?: string;
      /** The text before the key in its header. Default: none. */
      prefix?: string;
      /** Whether an entry in gateway.yaml must have an `api_key`. Default: true. */
      required?: boolean;
      /**
       * The adapter whose function `sign` signs each request with the keys of the entry: a name, or
       * a path beside this file. Without it, the key goes in a header.
       */
      signer?: string;
    };
/** A path or an address, or a template of one. Values in braces are encoded. */
export type Address = string | {};
/**
 * Words that an error of this kind contains, in its code or its message, in any case.
 *
 * Items: A word or a phrase of an error.
 */
export type Words = string[];
/**
 * A list of names of fields in a request.
 *
 * Items: A field's name in a request.
 */
export type Fields = string[];

/** providers/NAME.yaml: how one kind of upstream is reached. */
export interface ProviderManifest {
  /** The provider's name as people read it. */
  name: string;
  /**
   * The address that paths of operations are joined to. {region}, {resource}, {project} and
   * {api_version} are keys of the entry in gateway.yaml; {api_version=2024-10-21} has a default.
   * Without it, the entry has to give one.
   */
  base_url?: string;
  auth?: AuthBlock;
  /** Headers that go with every call. Without it, none but those of the gateway. */
  headers?: {
    /** The value of the header. */
    [k: string]: string;
  };
  /** What the upstream can do, and where. A model may only have capabilities that these serve. */
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
  /**
   * The adapter that answers inside the gateway, in place of an upstream on the network: a name, or
   * a path beside this file. Without it, calls go to `base_url`.
   */
  in_process?: string;
  /**
   * Settings of an adapter that answers inside the gateway; an entry in gateway.yaml may change
   * them. Default: none.
   */
  settings?: {
    [k: string]: unknown;
  };
  passthrough?: Fields;
  drop?: Fields;
  /** Other names for fields at this upstream. Default: none. */
  rename?: {
    /** The name of the field at this upstream. */
    [k: string]: string;
  };
  timeout?: ManifestTimeout;
  /** The least time between two questions about one image or video in the making. Default: 2s. */
  poll_interval?: string;
  /**
   * What an aborted call costs: `abort` where the upstream then stops billing, `drain` where it
   * bills on, so that the gateway reads the answer to its end. Default: drain.
   */
  on_abort?: 'abort' | 'drain';
  /**
   * The ID of one of its models. If it has a vendor in front, `vendor/name`, `check` warns of an ID
   * without one. Without it, no ID is told for its form.
   */
  model_example?: string;
  hidden_tokens?: HiddenTokensBlock;
  /**
   * The prompt tokens that one image part is taken to cost, so that the hold covers it. Without it,
   * 4096 for chat, and 8192 for image edits and moderations.
   */
  image_tokens?: number;
  /**
   * Facts about the wire that the codec reads, whose own file says what its flags mean. The gateway
   * itself reads `image_hosts` and `key_hosts`, hosts beside `base_url`. Default: none.
   */
  wire?: {
    [k: string]: unknown;
  };
  init?: InitBlock;
}
/** How chat is asked for. */
export interface ChatBlock {
  /** The path that chat is asked for at. */
  path: string;
  /** The adapter that translates between the wire and chat: a name, or a path beside this file. */
  codec: string;
  /**
   * The most choices (`n`) of one call; a request for more becomes several calls at once, each with
   * its prompt. Without it, one call asks for all.
   */
  max?: number;
  /**
   * What becomes of URLs of images and files: `bytes` where the upstream follows none, so that the
   * gateway fetches them. Without it, the URLs go to the upstream.
   */
  image_urls?: 'bytes';
}
/** Where an operation is asked for, and the codec that speaks its wire. */
export interface OperationBlock {
  /** The path that the operation is asked for at. */
  path: string;
  /**
   * The adapter that translates between the wire and the operation: a name, or a path beside this
   * file.
   */
  codec: string;
}
/** How audio is written down. */
export interface TranscriptionBlock {
  /** The path that transcriptions are asked for at. */
  path: string;
  /**
   * The adapter that translates between the wire and transcriptions: a name, or a path beside this
   * file.
   */
  codec: string;
  /**
   * The path that audio is translated into English at. Without it, the upstream translates none.
   */
  translate?: string;
}
/** How images are made. */
export interface ImageBlock {
  path: Address;
  /**
   * The adapter that translates between the wire and images: a name, or a path beside this file.
   * Without it, `request` and `response` do.
   */
  codec?: string;
  /** The most images of one call; a request for more becomes several calls. Default: 1. */
  max?: number;
  headers?: Headers;
  accepts?: ImageAccepts;
  /**
   * The form of the body: `form` sends multipart/form-data, with data URLs as its files. Without
   * it, the body is JSON.
   */
  send?: 'form';
  request?: Template;
  poll?: ImagePollBlock;
  edit?: ImageEditBlock;
  response?: ImageResponse;
}
/** Headers by name. */
export interface Headers {
  /** The value of the header. */
  [k: string]: string;
}
/**
 * The values that the upstream takes. A request for others goes to the next upstream. Without it,
 * any value is sent.
 */
export interface ImageAccepts {
  /**
   * The sizes that the upstream makes. Without it, any size is asked for.
   *
   * Items: A size: width, x and height.
   */
  size?: string[];
  /**
   * The qualities that the upstream makes. Without it, any quality is asked for.
   *
   * Items: A quality of images.
   */
  quality?: ('standard' | 'hd' | 'low' | 'medium' | 'high' | 'auto')[];
  /**
   * The styles that the upstream makes. Without it, any style is asked for.
   *
   * Items: A style of images.
   */
  style?: ('natural' | 'vivid')[];
}
/**
 * A template: text that starts with $ is a path such as $.size.width; blocks and lists are
 * templates of their parts, and what is absent is left out. $ is the call in requests, the state in
 * paths of questions, the body in responses, the item inside do; $call, $body, $state, $status and
 * $model have names where they are known. Operators: const, object, default, each/where/do,
 * when/then/else, map/from/else, concat, join/with, merge, equals, starts/with, not, all, any,
 * nearest_ratio/of, jmespath.
 */
export interface Template {
  [k: string]: unknown;
}
/**
 * Where images are asked for that the first answer only begins. Without it, the first answer has
 * them.
 */
export interface ImagePollBlock {
  path: Address;
  pending: Template;
}
/**
 * Where and how images are edited; the answer is that of images. Without it, the upstream edits
 * none.
 */
export interface ImageEditBlock {
  path: Address;
  request?: Template;
}
/** Templates that read the answer; $ is its body. Without it, a `codec` is needed. */
export interface ImageResponse {
  images: Template;
  usage?: Template;
  error?: Template;
}
/** How videos are made by a codec. */
export interface VideoBlock {
  /** The adapter that asks for videos and follows them: a name, or a path beside this file. */
  codec: string;
  /** The most videos of one call; a request for more becomes several calls. Default: 1. */
  max?: number;
}
/** How a video is asked for. */
export interface SubmitBlock {
  path: Address;
  /** The most videos of one task; a request for more becomes several tasks. Default: 1. */
  max?: number;
  headers?: Headers;
  accepts?: VideoAccepts;
  request: Template;
  response: SubmitResponse;
}
/**
 * The values that the upstream takes. A request for others goes to the next upstream. Without it,
 * any value is sent.
 */
export interface VideoAccepts {
  /**
   * The aspect ratios that the upstream makes. Without it, any of the contract.
   *
   * Items: An aspect ratio of videos.
   */
  aspect_ratio?: ('16:9' | '9:16')[];
  /**
   * The resolutions that the upstream makes. Without it, any of the contract.
   *
   * Items: A resolution of videos.
   */
  resolution?: ('720p' | '1080p' | '4k')[];
  /**
   * The lengths in seconds that the upstream makes. Without it, any of the contract.
   *
   * Items: A length in seconds.
   */
  duration_seconds?: number[];
  /**
   * Whether the upstream makes videos with sound, without, or both. Without it, both.
   *
   * Items: True with sound, false without.
   */
  generate_audio?: boolean[];
}
/** Templates that read the answer; $ is its body. */
export interface SubmitResponse {
  /** What is remembered of the task, a template by name; later questions name it as $state. */
  state: {};
}
/** How the upstream is asked about a video. */
export interface StatusBlock {
  path: Address;
  headers?: Headers;
  response: StatusResponse;
}
/** Templates that read the answer; $ is its body. */
export interface StatusResponse {
  status: Template;
  error?: Template;
  videos?: Template;
}
/** How finished videos are asked for. */
export interface ResultBlock {
  path: Address;
  headers?: Headers;
  response: ResultResponse;
}
/** Templates that read the answer; $ is its body. */
export interface ResultResponse {
  videos: Template;
  error?: Template;
}
/** How the bytes of a video are fetched. */
export interface ContentBlock {
  /**
   * Whether the bytes of a video are fetched with the credentials of the provider, at its own
   * address. Default: false.
   */
  credentials?: boolean;
}
/** How a waiting task is dropped. */
export interface CancelBlock {
  /** The method of the call that drops a task. Default: POST. */
  method?: 'POST' | 'PUT' | 'DELETE';
  path: Address;
  headers?: Headers;
}
/** How errors are read. */
export interface ErrorsBlock {
  message?: Template;
  code?: Template;
  /** The header, in lower case, that holds the code. Without it, the code is in the body. */
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
/**
 * How long each phase of a call may take, where gateway.yaml does not say. Without it, each phase
 * has its default.
 */
export interface ManifestTimeout {
  /**
   * How long connecting to the upstream may take, with the wait for a free connection. Default: 5s.
   */
  connect?: string;
  /**
   * How long the upstream may take from the request to the first byte of its answer. Default: 10m.
   */
  first_byte?: string;
  /** How long the upstream may be silent in the middle of an answer. Default: 5m. */
  idle?: string;
  /**
   * How long a call may take. A stream whose first output has come is limited by `idle` alone.
   * Default: 10m.
   */
  total?: string;
}
/**
 * Tokens that the upstream adds to every prompt and charges for, so that the hold covers them.
 * Without it, none are added.
 */
export interface HiddenTokensBlock {
  /** The tokens that the upstream adds to every prompt. Default: 0. */
  base?: number;
  /** The tokens that the upstream adds beside those where tools are sent. Default: 0. */
  tools?: number;
}
/** What `tollgate init` looks for and writes; a running gateway does not read it. */
export interface InitBlock {
  /**
   * The customary variables of the environment, by the key of the provider's entry that takes the
   * value. Without it, no variable shows that the provider is used.
   */
  variables?: {
    /**
     * Variables, the first one that is set counts.
     *
     * Items: The name of a variable.
     */
    [k: string]: string[];
  };
  /**
   * The beginnings of the provider's keys, by which `tollgate check` recognizes a key at another
   * provider. Without it, they are not recognized.
   *
   * Items: The beginning of a key.
   */
  key_prefixes?: string[];
  /**
   * The customary addresses on this machine, by the name of the provider's entry. Without it, the
   * provider is not looked for on this machine.
   */
  local?: {
    /** An address of a model server. */
    [k: string]: string;
  };
  /** The models to write, by their IDs at the provider. Without it, those that the server lists. */
  models?: {
    [k: string]: InitModel;
  };
}
/** A model that `tollgate init` writes. */
export interface InitModel {
  /**
   * The capabilities of the model, as in gateway.yaml.
   *
   * Items: A capability.
   */
  capabilities: string[];
  /** The limits of the model, as in gateway.yaml. Without it, those of the gateway. */
  limits?: {
    [k: string]: unknown;
  };
  /** The price of the model, as in gateway.yaml. Without it, the list price. */
  price?: {
    [k: string]: unknown;
  };
  /** A remark on the limits, which is written beside them. Without it, none is. */
  note?: string;
}
