import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { audioNamed } from '../lib/audio-length.js';
import { compilerOfShipped, readShippedSchema } from '../lib/schemas.js';
import { checking, isOfType, readBytes, type BodyTerms, type Check } from './request-body.js';

const MULTIPART = 'multipart/form-data';
/** What a form may have; its bytes are bounded as those of any body. */
const LIMITS = {
  fieldNameSize: 100,
  fieldSize: 256 * 1024,
  fields: 64,
  files: 32,
  headerPairs: 32,
  headerSize: 8 * 1024,
};
const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/u;

/** A reload does not compile them again. */
const forms = new Map<string, Check>();

/**
 * The check of a format's schema for the fields of a form, all of which are text: it writes numbers
 * and booleans in their place where the schema wants them.
 */
export function compileFormSchema(name: string): Check {
  let check = forms.get(name);
  if (!check) {
    const ajv = compilerOfShipped({ allowUnionTypes: true, coerceTypes: true });
    const schema = readShippedSchema(name);
    const { allOf: refined = [] } = schema as { allOf?: { $ref: string }[] };
    for (const { $ref } of refined) ajv.addSchema(readShippedSchema($ref));
    check = checking(ajv.compile(schema));
    forms.set(name, check);
  }
  return check;
}

export function isMultipart(req: IncomingMessage): boolean {
  return isOfType(req, MULTIPART);
}

/**
 * The body of a `multipart/form-data` request as the JSON object that says the same. A file is a
 * data: URL; a name that comes again, or ends in `[]`, is a list. Throws `GatewayError`: 400 for
 * what is no such form or has too many parts, else as `readJsonBody` does.
 */
export async function readMultipartBody(
  req: IncomingMessage,
  terms: BodyTerms,
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(req, terms, MULTIPART);
  const form = await open(req.headers['content-type'] ?? '');
  if (!form) {
    const complaint = 'The Content-Type must name the boundary of the form.';
    throw new GatewayError('invalid_request', complaint);
  }
  const parts = await partsOf(form, bytes);
  const body = new Map<string, string | string[]>();
  for (const [key, value] of parts) {
    const name = key.replace(/\[\]$/u, '');
    const before = body.get(name);
    if (before === undefined) body.set(name, name === key ? value : [value]);
    else body.set(name, [before, value].flat());
  }
  return Object.fromEntries(body);
}

function partsOf(form: BusboyInstance, bytes: Buffer): Promise<[string, string][]> {
  return new Promise((resolve, reject) => {
    const refuse = (complaint: string, cause?: unknown): void =>
      reject(new GatewayError('invalid_request', complaint, { cause }));
    const parts: [string, string][] = [];
    form
      .on('field', (name, value, isNameCut, isCut) => {
        if (isNameCut || isCut) refuse(`A field of the form has more than its ${most(isNameCut)}.`);
        parts.push([name, value]);
      })
      .on('file', (name, file, filename, _encoding, mime) => {
        const part: [string, string] = [name, ''];
        parts.push(part);
        gather(file, mediaType(mime, filename), (url) => (part[1] = url));
      })
      .on('fieldsLimit', () => refuse(`The form has more than ${LIMITS.fields} fields.`))
      .on('filesLimit', () => refuse(`The form has more than ${LIMITS.files} files.`))
      .on('error', (error) => refuse('The body is not a valid form.', error))
      .on('finish', () => resolve(parts));
    form.end(bytes);
  });
}

function most(isName: boolean): string {
  return isName ? `${LIMITS.fieldNameSize} bytes of name` : `${LIMITS.fieldSize} bytes`;
}

/** A reader of forms; undefined where the content type names no boundary. */
async function open(type: string): Promise<BusboyInstance | undefined> {
  // Loaded with the first form: most gateways see none, and no command does.
  const { Busboy } = await import('@fastify/busboy');
  try {
    return new Busboy({ headers: { 'content-type': type }, limits: LIMITS });
  } catch {
    return undefined;
  }
}

const UNTYPED = 'application/octet-stream';

/** Clients that know no type say so, and the name of the file may tell more. */
function mediaType(mime: string, filename: unknown): string {
  const named = typeof filename === 'string' ? audioNamed(filename)?.type : undefined;
  if (mime === UNTYPED && named !== undefined) return named;
  return MEDIA_TYPE.test(mime) ? mime : UNTYPED;
}

function gather(file: BusboyFileStream, type: string, give: (url: string) => void): void {
  const chunks: Buffer[] = [];
  file.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The form itself reports that it was cut off.
  file.on('error', () => undefined);
  file.on('end', () => {
    give(`data:${type};base64,${Buffer.concat(chunks).toString('base64')}`);
  });
}
