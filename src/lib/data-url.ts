const DATA_URL = /^data:[^,]{0,200};base64,/u;

/** Whether a text is a data: URL in base64. */
export function isDataUrl(text: string | undefined): text is string {
  return text !== undefined && DATA_URL.test(text);
}

/** The base64 of a data: URL. Any other text is returned as it is. */
export function base64Of(text: string): string {
  return text.replace(DATA_URL, '');
}

/** The bytes of a data: URL, or of plain base64. */
export function bytesOfBase64(text: string): Buffer {
  return Buffer.from(base64Of(text), 'base64');
}

/** As many bytes as hold the signature of every type that is told by its bytes. */
const HEAD_BYTES = 48;

/** The first bytes of a file in base64, for its signature. */
export function headOf(base64: string, bytes = HEAD_BYTES): Buffer {
  return Buffer.from(base64.slice(0, Math.ceil((bytes * 4) / 3)), 'base64');
}

/** The media type of a data: URL without its parameters; empty if the URL has none. */
export function mediaTypeOf(url: string): string {
  return /^data:([^,;]{0,200})/u.exec(url)?.[1]?.toLowerCase() ?? '';
}
