/** The author of a change, as the audit log names it. */
export interface Actor {
  /**
   * `cli`: the command line. `token`: a program with a management token. `person`: a person
   * who is signed in. `key`: a client with an API key. `gateway`: the gateway itself.
   */
  kind: 'cli' | 'token' | 'person' | 'key' | 'gateway';
  /** The ID of the token, the key or the person's account; the login name of a `cli`. */
  id: string | null;
  /** The name of the token, or the e-mail address of the person. */
  name: string | null;
  /** The request that asks for the change; null without one. */
  request_id: string | null;
}

/** The gateway itself, as at its first start. */
export const GATEWAY: Actor = Object.freeze({
  kind: 'gateway',
  id: null,
  name: null,
  request_id: null,
});
