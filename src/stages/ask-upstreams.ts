import type { UpstreamAttempt } from '../core/request-record.js';
import { ClientDisconnected, GatewayError } from '../core/errors.js';
import type { Upstream } from '../core/model.js';
import { UpstreamError } from '../core/upstream-error.js';
import {
  wholeAnswer,
  type Answer,
  type PaidAnswer,
  type SendContext,
  type Work,
} from '../pipeline/work.js';
import { upstreamFault } from '../telemetry/plain-error.js';
import {
  isRepeatable,
  isRetryable,
  LONGEST_RETRY_WAIT_MS,
  retryAfterMs,
  toClientError,
} from '../upstream/to-client-error.js';

/** The wait before the first repeat; each further one doubles it. */
const FIRST_WAIT_MS = 250;

/** An upstream that failed, with its last error and the number of its calls. */
interface Tried {
  upstream: Upstream;
  error: UpstreamError;
  calls: number;
}

/**
 * Calls the upstreams of the work one after another, best first, until one answers: first those
 * that do not rest, then those that do, unless they said when to come back, and then again those
 * whose failure a repeat can cure. This is the only place that retries: each upstream may speak
 * another format, so the call is encoded anew. Throws `GatewayError` if none answers,
 * `ClientDisconnected` if the client has disconnected and owes nothing.
 */
export async function askUpstreams(work: Work, context: SendContext): Promise<Answer> {
  const { rests, now } = context.services;
  const round = new AskingRound(work, context);
  const resting: Upstream[] = [];
  for (const upstream of work.upstreams) {
    const known = rests.stateOf(upstream);
    const state = typeof known === 'string' ? known : await known;
    if (state === 'rests') resting.push(upstream);
    else if (await round.ask(upstream, state === 'probe')) return round.answer();
    if (round.isFinal) break;
  }
  for (const upstream of resting) {
    if (round.isFinal || rests.toldUntil(upstream) !== undefined) continue;
    if (await round.ask(upstream)) return round.answer();
  }
  for (let next = round.next(); next; next = round.next()) {
    await round.pause(next.wait_ms);
    if (await round.ask(next.upstream)) return round.answer();
  }
  const told = resting.flatMap((upstream) => rests.toldUntil(upstream) ?? []);
  throw round.failure() ?? leftAlone(Math.min(...told) - now());
}

/** The refusal of a call whose upstreams all said when they may be called again. */
function leftAlone(wait_ms: number): GatewayError {
  const seconds = String(Math.max(1, Math.ceil(wait_ms / 1_000)));
  const message = `The upstream takes no calls at the moment: try again in ${seconds} s.`;
  return new GatewayError('overloaded', message, { headers: { 'retry-after': seconds } });
}

/** The calls of one request to its upstreams. */
class AskingRound {
  readonly #began_ms: number;
  #tried: Map<Upstream, Tried> | undefined;
  #answer: Answer | undefined;
  #failed: UpstreamError | undefined;
  #reported: UpstreamAttempt | undefined;
  /** No other upstream could answer this request either. */
  isFinal = false;

  constructor(
    private readonly work: Work,
    private readonly context: SendContext,
  ) {
    this.#began_ms = context.services.now();
  }

  answer(): Answer {
    if (!this.#answer) throw new Error('No upstream has answered.');
    return this.#answer;
  }

  /** Calls an upstream once. Resolves with whether it has answered. */
  async ask(upstream: Upstream, isProbe = false): Promise<boolean> {
    const { client, notes, services } = this.context;
    const { health, rests } = services;
    client.on_disconnect = client.may_retry ? 'drain' : upstream.provider.on_abort;
    notes.attemptStarted(upstream);
    const asked = rests.ask(upstream, isProbe);
    try {
      const answer = await this.work.send(upstream, this.context);
      notes.attemptEnded();
      asked.answered();
      // A stream has only begun: its `finish` reports to `health` how it ends.
      if (!('streams' in answer && answer.streams)) health.answered(upstream.provider.name);
      const { home } = this.work;
      notes.is_moved = home !== undefined && home !== upstream;
      this.#answer = answer;
      return true;
    } catch (error) {
      const isBusy = error instanceof UpstreamError && error.fault === 'busy';
      if (isBusy) notes.attemptUnsent();
      else notes.attemptFailed(error);
      if (!(error instanceof UpstreamError) || client.disconnected) asked.ended();
      else asked.failed(error);
      if (client.disconnected) {
        this.#answer = unanswered(this.work, upstream, this.context, error);
        return true;
      }
      if (!(error instanceof UpstreamError)) throw error;
      this.#note(upstream, error);
      return false;
    }
  }

  #note(upstream: Upstream, error: UpstreamError): void {
    const { request_id, notes, services } = this.context;
    const { health, log } = services;
    const { name } = upstream.provider;
    const isBusy = error.fault === 'busy';
    // `unsupported` is reported only if every upstream failed by it: the client could do nothing
    // about the others, which may serve the same request later. So is `busy`, which blames none.
    const failed = this.#failed;
    if (!failed || failed.fault === 'busy' || !(isBusy || error.fault === 'unsupported')) {
      this.#failed = error;
      this.#reported = isBusy ? undefined : notes.attempts.at(-1);
    }
    health.failed(name, error);
    const event = isBusy ? 'limits.connections left an upstream out' : 'an upstream failed';
    log.warn({ request_id, provider: name, ...upstreamFault(error) }, event);
    this.#tried ??= new Map();
    const calls = (this.#tried.get(upstream)?.calls ?? 0) + 1;
    this.#tried.set(upstream, { upstream, error, calls });
    this.isFinal = !isRetryable(error);
  }

  /** The upstream to ask again next, and the wait before that; undefined if there is none. */
  next(): { upstream: Upstream; wait_ms: number } | undefined {
    if (this.isFinal) return undefined;
    const waits = [...(this.#tried?.values() ?? [])].flatMap((tried) => {
      const wait_ms = this.#waitFor(tried);
      return wait_ms === undefined ? [] : [{ upstream: tried.upstream, wait_ms }];
    });
    return waits.toSorted((one, other) => one.wait_ms - other.wait_ms)[0];
  }

  /** The client waits for a repeat no longer than it would wait for the answer to begin. */
  #waitFor({ upstream: { provider }, error, calls }: Tried): number | undefined {
    const { now, random } = this.context.services;
    const bills_errors = this.work.bills_errors === true;
    if (calls > (provider.retries ?? 0) || !isRepeatable(error, bills_errors)) return undefined;
    const longest_ms = FIRST_WAIT_MS * 2 ** (calls - 1);
    const jittered_ms = longest_ms * (0.5 + random() / 2);
    const wait_ms = Math.max(jittered_ms, retryAfterMs(error, now()) ?? 0);
    const waited_ms = now() - this.#began_ms;
    const isTooLong =
      wait_ms > LONGEST_RETRY_WAIT_MS || waited_ms + wait_ms > provider.timeouts.first_byte_ms;
    return isTooLong ? undefined : wait_ms;
  }

  /** Waits before a repeat. Throws as soon as the client disconnects, or the gateway stops. */
  async pause(ms: number): Promise<void> {
    const { client, notes, services } = this.context;
    const began_ms = performance.now();
    if (!client.may_retry) client.on_disconnect = 'abort';
    const { signal } = client;
    signal.throwIfAborted();
    let listener: { handleEvent: () => void } | undefined;
    const aborted = new Promise<void>((resolve) => {
      listener = { handleEvent: resolve };
      signal.addEventListener('abort', listener);
    });
    await Promise.race([services.pause(ms), aborted]);
    if (listener) signal.removeEventListener('abort', listener);
    notes.paused_ms += performance.now() - began_ms;
    signal.throwIfAborted();
  }

  /** The error for the client; undefined if no upstream was asked. */
  failure(): GatewayError | undefined {
    if (!this.#failed) return undefined;
    if (this.#reported) this.context.notes.reportedToClient(this.#failed, this.#reported);
    return toClientError(this.#failed);
  }
}

/**
 * What a client that has disconnected before its answer pays: something only if the time to drain
 * is over, the upstream bills on, and the request was sent to it. A client that may repeat the call
 * pays for its answer. Throws `ClientDisconnected` if it pays nothing.
 */
function unanswered(
  work: Work,
  upstream: Upstream,
  context: SendContext,
  error: unknown,
): PaidAnswer {
  const { client } = context;
  const { name, on_abort } = upstream.provider;
  const isSent = !(error instanceof ClientDisconnected && error.before_sent);
  const isDrained = on_abort === 'drain' && client.signal.aborted && !client.may_retry;
  if (!isSent || !isDrained || !work.unansweredBill) throw new ClientDisconnected();
  const billOf = work.unansweredBill.bind(work);
  return wholeAnswer({
    provider: name,
    bill: () => billOf(upstream, context),
    write: () => undefined,
  });
}
