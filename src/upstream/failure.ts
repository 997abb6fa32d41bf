import type { Provider } from '../types.js';
import { readErrorBody, readErrorText, reread, type ErrorWords } from './error-body.js';
import { UpstreamError, type Fault } from './fault.js';

type Headers = Readonly<Record<string, string>>;
/** The headers of the call, whose credentials an upstream may repeat in its error. */
type Caller = Pick<Provider, 'headers' | 'read_error'>;

const MESSAGE_CHARACTERS = 1_000;
const PLAIN_HEADERS = new Set(['accept', 'accept-encoding', 'content-type', 'user-agent']);

const CONTEXT = anyOf(
  'context_length_exceeded',
  'maximum context length',
  'prompt is too long',
  'exceeds? the (maximum|context)',
  'input token count .* exceeds',
  'exceed_context_size_error',
  'too many (input )?tokens',
  'input is too long',
);
const POLICY = anyOf(
  'content_?policy',
  'content_?filter',
  'content management policy',
  'moderation_blocked',
  'responsible ?ai',
  'usage guidelines',
  'support codes?:',
);
const CREDENTIALS = anyOf(
  'api_key_invalid',
  'invalid_api_key',
  'authentication_error',
  'permission_error',
  'api[ _-]?key\\b.*\\b(invalid|not valid|expired|missing)',
  '(invalid|incorrect|expired|missing)\\b.*\\bapi[ _-]?key',
);
const NO_CREDIT = anyOf('insufficient_quota', 'credit balance', 'insufficient (credit|balance)');
const QUOTA = anyOf(NO_CREDIT.source, 'spend_limit', 'billing', 'exhausted balance');
const RATE = anyOf('rate_?limit', 'resource_exhausted', 'too_many_requests');
const OVERLOADED = anyOf('overloaded', 'unavailable');
const MISSING = anyOf('model_not_found', 'not_?found');
const REJECTED = anyOf(
  'invalid_request',
  'invalid_argument',
  'badrequest',
  'unprocessable',
  'tool_use_failed',
);

function anyOf(...patterns: string[]): RegExp {
  return new RegExp(patterns.join('|'), 'iu');
}

/** Ours, because the upstream's own words about such faults may hold a key or name an account. */
const MESSAGES: Readonly<Record<Exclude<Fault, 'rejected' | 'context' | 'policy'>, string>> = {
  credentials: "The upstream refused the gateway's credentials.",
  missing: 'The upstream does not serve this model.',
  rate_limited: 'The upstream is limiting the rate of calls.',
  quota: "The gateway's account at the upstream is out of credit.",
  overloaded: 'The upstream is overloaded.',
  timeout: 'The upstream timed out.',
  unreachable: 'The upstream is unreachable.',
  broken: 'The upstream failed.',
};

/**
 * The fault behind an answer whose status is not 2xx: 400, 413 and 422 are the client's to mend and
 * keep the upstream's message, at most 1,000 characters; all others get one of ours. `caller` lets
 * its credentials be masked wherever the upstream repeats them.
 */
export function failure(
  status: number,
  headers: Headers,
  text: string,
  caller?: Caller,
): UpstreamError {
  const words = reread(text, status, readErrorText(text), caller?.read_error);
  const fault = words.fault ?? faultOf(status, words);
  return toError(fault, words, retryAfter(headers, words), caller, status);
}

/**
 * The fault behind an error that came inside a 200, as a body or as an event of a stream: `body` is
 * its JSON, or its text. The status it names decides, else its code and type.
 */
export function failureInside(body: unknown, caller?: Caller): UpstreamError {
  const said = typeof body === 'string' ? readErrorText(body) : readErrorBody(body);
  const words = reread(body, said.status, said, caller?.read_error);
  const byWords = words.status === undefined ? faultByMarks(words) : faultOf(words.status, words);
  const fault = words.fault ?? byWords;
  return toError(fault, words, retryAfter({}, words), caller, words.status);
}

function faultOf(status: number, { message, marks }: ErrorWords): Fault {
  const said = `${marks} ${message}`;
  switch (status) {
    case 400:
    case 413:
    case 422:
      return clientFault(said);
    case 401:
      return 'credentials';
    case 402:
      return 'quota';
    case 403:
      return QUOTA.test(said) ? 'quota' : 'credentials';
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

/** Some upstreams answer 400 for what is not the client's to mend at all. */
function clientFault(said: string): Fault {
  if (CONTEXT.test(said)) return 'context';
  if (POLICY.test(said)) return 'policy';
  if (CREDENTIALS.test(said)) return 'credentials';
  if (NO_CREDIT.test(said)) return 'quota';
  return /model_not_found/u.test(said) ? 'missing' : 'rejected';
}

function faultByMarks({ message, marks }: ErrorWords): Fault {
  if (CONTEXT.test(`${marks} ${message}`)) return 'context';
  if (POLICY.test(marks)) return 'policy';
  if (QUOTA.test(marks)) return 'quota';
  if (CREDENTIALS.test(marks)) return 'credentials';
  if (RATE.test(marks)) return 'rate_limited';
  if (OVERLOADED.test(marks)) return 'overloaded';
  if (MISSING.test(marks)) return 'missing';
  return REJECTED.test(marks) ? 'rejected' : 'broken';
}

function toError(
  fault: Fault,
  words: ErrorWords,
  retry_after: string | undefined,
  caller: Caller | undefined,
  status: number | undefined,
): UpstreamError {
  const said = masked(words.message, caller).slice(0, MESSAGE_CHARACTERS);
  if (fault === 'rejected' || fault === 'context' || fault === 'policy') {
    return new UpstreamError(fault, said || 'The upstream rejected the request.', retry_after);
  }
  const message =
    fault === 'broken' && status !== undefined
      ? `The upstream answered with status ${status}.`
      : MESSAGES[fault];
  // For the operator's log only, and only where the credentials are known and so masked.
  const cause = caller && said ? { cause: new Error(said) } : undefined;
  return new UpstreamError(fault, message, retry_after, cause);
}

/** Hides each header value that may be a secret, or hold one after a scheme: `Bearer KEY`. */
function masked(text: string, caller: Caller | undefined): string {
  let result = text;
  for (const [name, value] of Object.entries(caller?.headers ?? {})) {
    const secret = value.split(' ').at(-1) ?? value;
    if (secret.length >= 8 && !PLAIN_HEADERS.has(name.toLowerCase())) {
      result = result.replaceAll(secret, '***');
    }
  }
  return result;
}

/** Whole seconds or an HTTP date, as it may go out in our own header. */
function retryAfter(headers: Headers, { retry_seconds }: ErrorWords): string | undefined {
  const given = headers['retry-after']?.trim();
  if (given && /^\d{1,9}(\.\d+)?$/u.test(given)) return seconds(Number(given));
  if (given && /^[A-Z][a-z]{2}, [\w :]+ GMT$/u.test(given)) return given;
  const ms = headers['retry-after-ms'];
  if (ms && /^\d{1,12}(\.\d+)?$/u.test(ms)) return seconds(Number(ms) / 1_000);
  return retry_seconds === undefined ? undefined : seconds(retry_seconds);
}

function seconds(value: number): string {
  return String(Math.ceil(value));
}
