import type { Provider, WireRequest } from '../core/provider.js';
import { ERROR_BYTES, readErrorBody, readErrorText, applyErrorReader } from './error-body.js';
import { withoutEcho } from './echo.js';
import {
  FAULT_MESSAGES,
  UpstreamError,
  type ErrorWords,
  type Fault,
  type UpstreamErrorOptions,
} from '../core/upstream-error.js';

type Headers = Readonly<Record<string, string>>;
/** The credentials of the call, which an upstream may repeat in its error. */
type ErrorProvider = Pick<Provider, 'headers' | 'read_error' | 'signer'>;

const MESSAGE_CHARACTERS = 1_000;
/** The part of the message and of the marks that is searched to classify the error. */
const MATCHED_CHARACTERS = 4_096;
/** A shorter part of a secret is of no use, and would mask common words. */
const SECRET_CHARACTERS = 8;
/** A page of a server between here and the upstream. It tells a client nothing to correct. */
const PAGE = /^\s*<(?:!doctype|html|head|body|\?xml)\b/iu;
/** Headers of a provider that hold no secret. */
export const PLAIN_HEADERS = new Set(['accept', 'accept-encoding', 'content-type', 'user-agent']);

const CONTEXT = anyOf(
  'context_length_exceeded',
  'maximum (context|prompt) length',
  'prompt (is )?too long',
  'exceeds? the (maximum|context)',
  'exceed(s|ed)? (the )?max(imum)? context',
  'input token count .{0,100} exceeds',
  'prompt token count .{0,100} exceeds',
  'exceed_context_size_error',
  'too many (input )?tokens',
  'too_many_prompt_tokens',
  'tokens_limit_reached',
  'exceeded model token limit',
  'greater than the context length',
  'context window exceeds',
  'input is too long',
);
const POLICY = anyOf(
  'content_?policy',
  'content_?filter',
  'content management policy',
  'moderation_blocked',
  'model[_ ]?armor',
  'responsible ?ai',
  'usage guidelines',
  'support codes?:',
);
const CREDENTIALS = anyOf(
  'api_key_invalid',
  'invalid_api_key',
  'authentication_error',
  'permission_error',
  'api[ _-]?key\\b.{0,100}\\b(invalid|not valid|expired|missing)',
  '(invalid|incorrect|expired|missing)\\b.{0,100}\\bapi[ _-]?key',
);
const NO_CREDIT = anyOf('insufficient_quota', 'credit balance', 'insufficient (credit|balance)');
/** A 400 of an upstream that does not serve the gateway's country. */
const LOCATION = anyOf('location is not supported', 'unsupported_country');
const QUOTA = anyOf(NO_CREDIT.source, 'spend_limit', 'billing', 'exhausted balance');
const RATE = anyOf('rate_?limit', 'resource_exhausted', 'too_many_requests');
/** A request that no wait makes fit. Other requests do not meet this limit. */
const TOO_LARGE = anyOf('^\\W{0,3}request too large for\\b.{0,300}\\btokens per min');
const TOO_LARGE_MESSAGE = 'The request has more tokens than the upstream takes in a minute.';
const MISSING = anyOf('model_not_found', 'not_?found');
const REJECTED = anyOf('invalid_request', 'invalid_argument', 'badrequest', 'unprocessable');

/** The content filter itself failed: it has judged nothing. */
const FILTER_FAILED = anyOf(
  'content_?filter_?(error|failed|failure|timeout|unavailable)',
  '^.{0,100}content.?filter(ing)?( system| service)?( has| is| was)? ' +
    '(failed|unavailable|timed out|temporarily|currently)',
);
/** The client forced a call that this model would not make; another model may. */
const UNCALLED = anyOf('^\\W{0,3}tool.?choice is required\\b.{0,40}\\bdid not call\\b');
/** The model's own output was of no use to its server, which may go well at the next try. */
const SPOILT_CODES = anyOf(
  'tool_use_failed',
  'json_validate_failed',
  'output_parse_failed',
  'tool_call_(parse|validation)_(error|failed)',
  'invalid_model_output',
  'malformed_(function_call|tool_use|model_output|response)',
  '\\bmodel_?(stream)?_?error(exception)?\\b',
);
/** Only the beginning of a message is searched, as the rest may repeat a client's text. */
const SPOILT_WORDS = anyOf(
  '^\\W{0,3}failed to (call a function|generate (a |valid )?(json|tool|function|output))',
  '^\\W{0,3}failed to parse (the )?(model|tool call|function call|generated|output)',
  '^\\W{0,3}tool call validation failed',
  '^\\W{0,3}parsing failed\\b.{0,20}\\bmodel\\b',
  '^\\W{0,3}(the )?model (has )?(produced|generated|returned|gave|output) ' +
    '(an? )?(invalid|malformed|unpars)',
);
const BUSY_CODES = anyOf('overloaded', 'unavailable', 'server_busy', 'engine_busy', 'at_capacity');
const BUSY_WORDS = anyOf(
  '^\\W{0,3}(overloaded|(server|service|model|system) (is )?(temporarily )?(busy|unavailable))\\b',
  '^.{0,100}\\b(model|server|service|engine|system|upstream|provider|cluster)s?\\b.{0,60} ' +
    '(is|are) (currently |temporarily |very |too |now )*' +
    '(overloaded|unavailable|busy|at (full |max(imum)? )?capacity|experiencing (high|heavy))',
);
const INTERNAL = anyOf('\\binternal(_server)?_?error', '\\bserver_error', '\\binternalerror');

/** No pattern repeats without a bound, because an error may hold any text of a client. */
function anyOf(...patterns: string[]): RegExp {
  return new RegExp(patterns.join('|'), 'iu');
}

/**
 * Classifies an answer whose status is not 2xx. The client can correct a 400, 413 or 422, so these
 * keep the upstream's message, at most 1,000 characters. All others get a message of the gateway.
 * The credentials of `provider` are masked wherever the upstream repeats them. `sent` is the body
 * of the request. Without it the record keeps nothing of the upstream's message.
 */
export function classifyError(
  status: number,
  headers: Headers,
  text: string,
  provider?: ErrorProvider,
  sent?: WireRequest['body'],
): UpstreamError {
  const body = text.slice(0, ERROR_BYTES);
  const plain = readErrorText(body);
  const words = matched(
    applyErrorReader(body, status, plain, provider?.read_error, headers),
    provider,
  );
  const fault =
    (CLIENT_STATUSES.has(status) ? ownFault(words) : undefined) ??
    words.fault ??
    faultOf(status, words);
  return toError(fault, words, retryAfter(headers, words), status, sent);
}

/**
 * Classifies an error inside a 200: a body or an event of a stream. `whole` is its JSON, or its
 * text. The status in it decides; without a status, its code and type.
 */
export function classifyErrorInside(whole: unknown, provider?: ErrorProvider): UpstreamError {
  const body = typeof whole === 'string' ? whole.slice(0, ERROR_BYTES) : whole;
  const plain = typeof body === 'string' ? readErrorText(body) : readErrorBody(body);
  const words = matched(
    applyErrorReader(body, plain.status, plain, provider?.read_error),
    provider,
  );
  const { status } = words;
  const own = status === undefined || CLIENT_STATUSES.has(status) ? ownFault(words) : undefined;
  const byWords = status === undefined ? faultByMarks(words) : faultOf(status, words);
  return toError(own ?? words.fault ?? byWords, words, retryAfter({}, words), status);
}

/** The words without credentials, cut to the part that is searched. */
function matched<Words extends ErrorWords>(
  words: Words,
  provider: ErrorProvider | undefined,
): Words {
  const message = maskSecrets(words.message.slice(0, 2 * MATCHED_CHARACTERS), provider);
  const marks = words.marks.slice(0, MATCHED_CHARACTERS);
  const codes = words.codes.map((code) => maskSecrets(code, provider));
  return { ...words, message: message.slice(0, MATCHED_CHARACTERS), marks, codes };
}

/** Statuses that blame the request. */
const CLIENT_STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * A fault that the upstream reports as the request's although it is its own: its content filter
 * failed, its model spoilt a call or an output or made none where it had to, or it has too much to
 * do. Undefined if it is none.
 */
function ownFault({ message, marks }: ErrorWords): Fault | undefined {
  if (FILTER_FAILED.test(marks) || FILTER_FAILED.test(message)) return 'broken';
  const text = `${marks} ${message}`;
  if (CONTEXT.test(text) || POLICY.test(text)) return undefined;
  if (UNCALLED.test(message)) return 'unsupported';
  if (SPOILT_CODES.test(marks) || SPOILT_WORDS.test(message)) return 'broken';
  if (BUSY_CODES.test(marks) || BUSY_WORDS.test(message)) return 'overloaded';
  if (RATE.test(marks)) return QUOTA.test(marks) ? 'quota' : 'rate_limited';
  return INTERNAL.test(marks) ? 'broken' : undefined;
}

function faultOf(status: number, { message, marks }: ErrorWords): Fault {
  const text = `${marks} ${message}`;
  switch (status) {
    case 400:
    case 413:
    case 422:
      return clientFault(text);
    case 401:
      return 'credentials';
    case 402:
      return 'quota';
    case 403:
      return QUOTA.test(text) ? 'quota' : 'credentials';
    case 404:
      return 'missing';
    case 429:
      return QUOTA.test(marks) ? 'quota' : 'rate_limited';
    case 503:
    case 529:
      return 'overloaded';
    default:
      return 'broken';
  }
}

/** Some upstreams answer 400 for a fault that the client cannot correct. */
function clientFault(text: string): Fault {
  if (CONTEXT.test(text)) return 'context';
  if (POLICY.test(text)) return 'policy';
  if (CREDENTIALS.test(text)) return 'credentials';
  if (NO_CREDIT.test(text)) return 'quota';
  if (LOCATION.test(text)) return 'missing';
  return /model_not_found/u.test(text) ? 'missing' : 'rejected';
}

function faultByMarks({ message, marks }: ErrorWords): Fault {
  if (CONTEXT.test(`${marks} ${message}`)) return 'context';
  if (POLICY.test(marks)) return 'policy';
  if (QUOTA.test(marks)) return 'quota';
  if (CREDENTIALS.test(marks)) return 'credentials';
  if (MISSING.test(marks)) return 'missing';
  return REJECTED.test(marks) ? 'rejected' : 'broken';
}

function toError(
  fault: Fault,
  words: ErrorWords,
  retry_after: string | undefined,
  status: number | undefined,
  sent?: WireRequest['body'],
): UpstreamError {
  const own_message = words.message.slice(0, MESSAGE_CHARACTERS);
  if (
    fault === 'rejected' ||
    fault === 'context' ||
    fault === 'policy' ||
    fault === 'unsupported'
  ) {
    const kept_message = withoutEcho(own_message, sent);
    const options = { ...reasonOf(words, status), kept_message };
    const told = PAGE.test(own_message) ? '' : own_message;
    return new UpstreamError(fault, told || FAULT_MESSAGES.rejected, retry_after, options);
  }
  if (fault === 'rate_limited' && TOO_LARGE.test(words.message)) {
    const options = { ...reasonOf(words, status), is_too_large: true };
    return new UpstreamError(fault, TOO_LARGE_MESSAGE, retry_after, options);
  }
  const message =
    fault === 'broken' && status !== undefined
      ? `The upstream answered with status ${status}.`
      : FAULT_MESSAGES[fault];
  return new UpstreamError(fault, message, retry_after, reasonOf(words, status));
}

/** Replaces each secret of the provider by `***`. */
export function maskSecrets(text: string, provider: ErrorProvider | undefined): string {
  let result = text;
  for (const secret of provider ? secretsOf(provider) : []) {
    if (secret.length < SECRET_CHARACTERS) continue;
    result = withoutBeginning(result.replaceAll(secret, '***'), secret);
  }
  return result;
}

/**
 * The signing keys, and the header values that may be secrets, without a scheme such as `Bearer`.
 */
function secretsOf({ headers, signer }: ErrorProvider): string[] {
  const values = Object.entries(headers)
    .filter(([name]) => !PLAIN_HEADERS.has(name.toLowerCase()))
    .map(([, value]) => value.split(' ').at(-1) ?? value);
  const { access_key_id, secret_access_key, session_token } = signer?.credentials ?? {};
  const keys = [access_key_id, secret_access_key, session_token];
  return [...values, ...keys.filter((key) => key !== undefined)];
}

/** Masks the beginning of a secret at the end of a text that was cut. */
function withoutBeginning(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= SECRET_CHARACTERS; length -= 1) {
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}***`;
  }
  return text;
}

/**
 * The upstream's reason for the operator's log: the status and the codes. The rest of an error may
 * hold a customer's text.
 */
function reasonOf({ codes }: ErrorWords, status: number | undefined): UpstreamErrorOptions {
  const reported = codes.length === 0 ? 'no code' : `the code ${codes.join(', ')}`;
  const cause = new Error(`The upstream said ${reported}, with status ${status ?? 'unknown'}.`);
  return { cause, codes, ...(status !== undefined && { status }) };
}

/** The value of our own `retry-after` header: whole seconds, or an HTTP date. */
function retryAfter(headers: Headers, { retry_seconds }: ErrorWords): string | undefined {
  const value = headers['retry-after']?.trim();
  if (value && /^\d{1,9}(\.\d+)?$/u.test(value)) return seconds(Number(value));
  if (value && /^[A-Z][a-z]{2}, [\w :]+ GMT$/u.test(value)) return value;
  const ms = headers['retry-after-ms'];
  if (ms && /^\d{1,12}(\.\d+)?$/u.test(ms)) return seconds(Number(ms) / 1_000);
  return retry_seconds === undefined ? undefined : seconds(retry_seconds);
}

function seconds(value: number): string {
  return String(Math.ceil(value));
}
