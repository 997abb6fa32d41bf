// Made by `npm run types` from schemas/provider.schema.json.

/** none, bearer, optional-bearer or { header, prefix, required } */
export type AuthBlock =
  | string
  | {
      /** a header's name */
      header: string;
      /** text */
      prefix?: string;
      /** true or false */
      required?: boolean;
    };
/** Items: a field's name */
export type Fields = string[];
/** a duration such as 500ms, 30s, 2m or 1h */
export type Duration = string;

/** providers/NAME.yaml: how one kind of upstream is reached. */
export interface ProviderManifest {
  /** the provider's display name */
  name: string;
  /** a URL */
  base_url?: string;
  auth?: AuthBlock;
  headers?: {
    /** text */
    [k: string]: string;
  };
  operations: {
    chat?: OperationBlock;
    image?: ImageBlock;
    video?: VideoBlock;
    'video.submit'?: OperationBlock;
    'video.status'?: OperationBlock;
    'video.result'?: OperationBlock;
    'video.content'?: OperationBlock;
  };
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
  wire?: {
    [k: string]: unknown;
  };
}
export interface OperationBlock {
  /** a path such as /chat/completions */
  path: string;
  /** a codec's name or ./path.js */
  codec: string;
}
export interface ImageBlock {
  /** a path such as /images/generations */
  path: string;
  /** a codec's name or ./path.js */
  codec: string;
  /** a whole number of pictures a call, 1 to 10 */
  most?: number;
}
export interface VideoBlock {
  /** a codec's name or ./path.js */
  codec: string;
  /** a whole number of videos a call, 1 to 4 */
  most?: number;
}
export interface ManifestTimeout {
  connect?: Duration;
  first_byte?: Duration;
  idle?: Duration;
  total?: Duration;
}
