/** A second path of an API, under which its endpoints have names of their own. */
export interface SecondPath {
  readonly first: string;
  readonly second: string;
  name(name: string): string;
}

/** OpenAI's whole API, for clients whose base URL is set once. */
export const OPENAI_BASE: SecondPath = {
  first: '/v1/',
  second: '/openai/v1/',
  name: (name) => `openai-${name}`,
};

/** The stable version of an API that clients mostly call at its `/v1beta`. */
export const STABLE_VERSION: SecondPath = {
  first: '/v1beta/',
  second: '/v1/',
  name: (name) => `${name}-v1`,
};
