/** Where the store is, and how it is reached. All but the URL is for PostgreSQL. */
export interface StorePlace {
  /** `sqlite:PATH` or `postgres://…`. */
  readonly url: string;
  /** The same database past a pooler, where each connection has a session of its own. */
  readonly session_url: string | undefined;
  /** The most connections of one process. */
  readonly connections: number;
  readonly connect_ms: number;
  /** 0 is no limit. */
  readonly statement_ms: number;
  readonly application_name: string | undefined;
  /** The file with the authorities that sign the server's certificate. */
  readonly ca: string | undefined;
}

/** What a place has where nothing else is said. */
export const STORE_DEFAULTS = { connections: 14, connect_ms: 10_000, statement_ms: 60_000 };

/** A place as it is; that of a URL has the defaults. */
export function placeOfStore(at: StorePlace | string): StorePlace {
  if (typeof at !== 'string') return at;
  const absent = { session_url: undefined, application_name: undefined, ca: undefined };
  return { url: at, ...STORE_DEFAULTS, ...absent };
}

/** The same store past a pooler, where the place names a way there. */
export function pastPooler(place: StorePlace): StorePlace {
  const { url, session_url } = place;
  return { ...place, url: session_url ?? url, session_url: undefined };
}
