/** How long a picture is kept, in ms since 1970, and how much all of them may weigh together. */
export interface HostingTerms {
  due_ms: number;
  total_bytes: number;
  /** Whose it is; null where that is not known. */
  account_id: string | null;
  /** It has cost nothing, so it has a small part of the room. */
  free: boolean;
}

export interface HostedImage {
  bytes: Buffer;
  due_ms: number;
}

/** Pictures that are kept for a while, so that their clients can fetch them by a URL. */
export interface HostedImageStore {
  /** Makes room for the newest by giving up the oldest of the account that keeps the most. */
  keep(id: string, bytes: Uint8Array, terms: HostingTerms): Promise<void>;
  /** Undefined for one that is not kept, or not any more. */
  picture(id: string): Promise<HostedImage | undefined>;
  /** Removes those whose time is up; answers how many. */
  sweep(): Promise<number>;
}
