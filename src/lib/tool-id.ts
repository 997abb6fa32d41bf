const MARK = '~ts~';
/** Marks a signature that is not canonical base64, and is encoded once more. */
const RAW = '.';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u;

/**
 * Joins a tool call's ID and the signature that its upstream demands back: `ID~ts~BASE64URL`.
 * Clients send IDs back unchanged, so the signature comes back with every client.
 */
export function signedId(id: string, signature: string): string {
  const encoded = BASE64.test(signature)
    ? signature
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/={1,2}$/u, '')
    : RAW + Buffer.from(signature).toString('base64url');
  return `${id}${MARK}${encoded}`;
}

/** The ID without its signature, for upstreams that know no signatures. */
export function plainId(id: string): string {
  const at = id.indexOf(MARK);
  return at === -1 ? id : id.slice(0, at);
}

/** The signature in an ID, as the upstream gave it; undefined if there is none. */
export function signatureOf(id: string): string | undefined {
  const at = id.indexOf(MARK);
  const encoded = at === -1 ? '' : id.slice(at + MARK.length);
  if (encoded === '') return undefined;
  if (encoded.startsWith(RAW)) return Buffer.from(encoded.slice(1), 'base64url').toString();
  const usual = encoded.replaceAll('-', '+').replaceAll('_', '/');
  return usual.padEnd(Math.ceil(usual.length / 4) * 4, '=');
}

/** An ID for a tool call whose upstream gave none. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
}
