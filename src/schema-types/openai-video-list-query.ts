// Made by `npm run types` from schemas/openai-video-list-query.schema.json.

/** GET /v1/videos: which page of the account's videos. Other parameters are ignored. */
export interface OpenAiVideoListQuery {
  /** the ID of a video, as last_id of the page before */
  after?: string;
  /** videos on a page; 20 where it is left out */
  limit?: number;
  /** desc, the newest first, where it is left out */
  order?: 'asc' | 'desc';
}
