const MARK = '~ts~';
/** Precedes what was no base64 in its usual form, and was encoded once more. */
const RAW = '.';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u;

/**
 * A tool call's id with the signature that its upstream demands back: `ID~ts~BASE64URL`. A client
 * sends ids back as they are, so that the signature returns with every client.
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

/** The id alone, as it goes to an upstream that knows nothing of such signatures. */
export function plainId(id: string): string {
  const at = id.indexOf(MARK);
  return at === -1 ? id : id.slice(0, at);
}

/** The signature that an id carries, as its upstream gave it; undefined where there is none. */
export function signatureOf(id: string): string | undefined {
  const at = id.indexOf(MARK);
  const encoded = at === -1 ? '' : id.slice(at + MARK.length);
  if (encoded === '') return undefined;
  if (encoded.startsWith(RAW)) return Buffer.from(encoded.slice(1), 'base64url').toString();
  const usual = encoded.replaceAll('-', '+').replaceAll('_', '/');
  return usual.padEnd(Math.ceil(usual.length / 4) * 4, '=');
}
