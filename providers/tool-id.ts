/** Stands between a tool call's id and the signature that an upstream demands back with it. */
const MARK = '~ts~';

/** The id of a tool call as its upstream gave it, without a signature behind it. */
export function plainId(id: string): string {
  const at = id.indexOf(MARK);
  return at < 0 ? id : id.slice(0, at);
}

/** The signature that travels in the id of a tool call, in base64url; undefined where none does. */
export function signatureOf(id: string): string | undefined {
  const at = id.indexOf(MARK);
  return at < 0 ? undefined : id.slice(at + MARK.length);
}
