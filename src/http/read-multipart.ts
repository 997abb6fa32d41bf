import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { longWorkTurns } from '../lib/event-loop-turns.js';
import { audioNamed } from '../lib/audio-length.js';
import { validatorOfShipped } from '../lib/schemas.js';
import { checking, type Check } from './body-schema.js';
import { isOfType, readBytes, type BodyTerms } from './request-body.js';

const MULTIPART = 'multipart/form-data';
/** The limits of a form's parts. The bytes of the whole form have the limit of any body. */
const LIMITS = {
  fieldSize: 256 * 1024,
  fields: 64,
  files: 32,
  /** Beside fields and files there are parts without a name. */
  parts: 128,
  headerPairs: 32,
  headerSize: 8 * 1024,
};
const NAME_CHARACTERS = 100;
/** Enough for a boundary of 70 characters (RFC 2046). Searching for a longer one takes longer. */
const TYPE_CHARACTERS = 200;
/** The bytes that are parsed in one turn of the event loop. */
const STEP_BYTES = 32 * 1024;
/** So many small pieces of a file are joined, as each piece takes memory of its own. */
const MAX_PIECES = 512;
const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/u;

/**
 * The check of a format's schema for the fields of a form. All of them are text, so it converts
 * those to numbers and booleans that the schema wants as such.
 */
export function compileFormSchema(name: string): Check {
  return checking(validatorOfShipped(name, 'form'));
}

export function isMultipart(req: IncomingMessage): boolean {
  return isOfType(req, MULTIPART);
}

/**
 * The body of a `multipart/form-data` request as a JSON object. A file becomes a data: URL, and a
 * name that is repeated, or ends in `[]`, a list. Throws `GatewayError`: 400 for a body that is no
 * such form or has too many parts, else as `readJsonBody` does.
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
  const parts = await partsOfForm(form, bytes);
  const body = new Map<string, string | string[]>();
  for (const [key, value] of parts) {
    const name = key.replace(/\[\]$/u, '');
    const before = body.get(name);
    if (before === undefined) body.set(name, name === key ? value : [value]);
    else body.set(name, [before, value].flat());
  }
  return Object.fromEntries(body);
}

/** The names and values of the parts. Parses in steps, and stops at the first limit. */
async function partsOfForm(form: BusboyInstance, bytes: Buffer): Promise<[string, string][]> {
  const parts: [string, string][] = [];
  let refusal: GatewayError | undefined;
  const refuse = (complaint: string, cause?: unknown): void => {
    refusal ??= new GatewayError('invalid_request', complaint, { cause });
  };
  // The reader has a limit of its own for names in other forms only.
  const add = (name: string, value: string): [string, string] => {
    const part: [string, string] = [name, value];
    if (name.length > NAME_CHARACTERS) {
      refuse(`A field of the form has a name of more than ${NAME_CHARACTERS} characters.`);
    } else parts.push(part);
    return part;
  };
  form
    .on('field', (name, value, _isNameCut, isCut) => {
      if (isCut) refuse(`A field of the form has more than ${LIMITS.fieldSize} bytes.`);
      else add(name, value);
    })
    .on('file', (name, file, filename, _encoding, mime) => {
      const part = add(name, '');
      readFile(file, mediaType(mime, filename), (url) => (part[1] = url));
    })
    .on('fieldsLimit', () => refuse(`The form has more than ${LIMITS.fields} fields.`))
    .on('filesLimit', () => refuse(`The form has more than ${LIMITS.files} files.`))
    .on('partsLimit', () => refuse(`The form has more than ${LIMITS.parts} parts.`));
  const ended = new Promise<void>((resolve) => {
    form.on('finish', resolve).on('error', (error) => {
      refuse('The body is not a valid form.', error);
      resolve();
    });
  });
  for (let at = 0; at < bytes.length && !refusal; at += STEP_BYTES) {
    const step = bytes.subarray(at, at + STEP_BYTES);
    await Promise.race([ended, new Promise((resolve) => void form.write(step, resolve))]);
    await longWorkTurns.next();
  }
  if (!refusal) {
    form.end();
    await ended;
  }
  if (refusal) throw refusal;
  return parts;
}

/** A reader of forms; undefined where the content type names no boundary. */
async function open(type: string): Promise<BusboyInstance | undefined> {
  if (type.length > TYPE_CHARACTERS) return undefined;
  // Loaded with the first form: most gateways see none, and no command does.
  const { Busboy } = await import('@fastify/busboy');
  try {
    return new Busboy({ headers: { 'content-type': type }, limits: LIMITS });
  } catch {
    return undefined;
  }
}

const UNTYPED = 'application/octet-stream';

/** The media type of a file: the client's, or that of the file name if the client knows none. */
function mediaType(mime: string, filename: unknown): string {
  const named = typeof filename === 'string' ? audioNamed(filename)?.type : undefined;
  if (mime === UNTYPED && named !== undefined) return named;
  return MEDIA_TYPE.test(mime) ? mime : UNTYPED;
}

/** Reads a file of the form, and passes it on as a data: URL. */
function readFile(file: BusboyFileStream, type: string, onUrl: (url: string) => void): void {
  const chunks: Buffer[] = [];
  let pieces: Buffer[] = [];
  const join = (): void => {
    chunks.push(Buffer.concat(pieces));
    pieces = [];
  };
  file.on('data', (piece: Buffer) => {
    if (pieces.push(piece) >= MAX_PIECES) join();
  });
  // The form reports that its body was cut off, so the error of the file needs no answer.
  file.on('error', () => undefined);
  file.on('end', () => {
    join();
    onUrl(`data:${type};base64,${Buffer.concat(chunks).toString('base64')}`);
  });
}
