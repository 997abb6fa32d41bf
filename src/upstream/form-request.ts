import type { Encoded, FormPart, WireRequest } from '../core/provider.js';
import { jsonRequest } from './upstream-request.js';

/** The wire request of a codec's request: a form if it has parts, else JSON. */
export async function wireRequest(encoded: Encoded, path: string): Promise<WireRequest> {
  const wire = jsonRequest(encoded, path);
  if (!encoded.form) return wire;
  const response = new Response(formOf(encoded.form));
  const type = response.headers.get('content-type') ?? 'multipart/form-data';
  const body = new Uint8Array(await response.arrayBuffer());
  return { ...wire, headers: { ...wire.headers, 'content-type': type }, body };
}

function formOf(parts: readonly FormPart[]): FormData {
  const form = new FormData();
  for (const part of parts) {
    if ('value' in part) form.append(part.name, part.value);
    else {
      const file = new Blob([new Uint8Array(part.file)], { type: part.type });
      form.append(part.name, file, part.filename);
    }
  }
  return form;
}
