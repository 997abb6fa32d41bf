import type { Upstream } from '../../core/model.js';
import type { WireRequest } from '../../core/provider.js';
import { UpstreamError, type Fault } from '../../core/upstream-error.js';
import type { ClientConnection } from '../../http/client-connection.js';
import type { LightAbortSignal } from '../../lib/light-abort.js';
import type { Services } from '../../pipeline/services.js';
import { isAbsolute, isOwn, requestJson } from '../../upstream/upstream-request.js';
import type { ImageCall, ImagePolling } from './codec.js';

/**
 * How many polls may fail in a row. Meanwhile the upstream makes the images, and charges for them.
 */
const MAX_FAILURES = 3;
const TRANSIENT: ReadonlySet<Fault> = new Set<Fault>([
  'rate_limited',
  'overloaded',
  'timeout',
  'unreachable',
  'broken',
]);

/**
 * Polls until the images are made, at the provider's poll interval and for no longer than its total
 * timeout. Resolves with the body of the last answer. Throws `UpstreamError`.
 */
export async function pollImages(
  polling: ImagePolling,
  submitted: unknown,
  { call, upstream }: { call: ImageCall; upstream: Upstream },
  client: ClientConnection,
  { network, configuration }: Pick<Services, 'network' | 'configuration'>,
): Promise<unknown> {
  const { provider } = upstream;
  const { answer_bytes } = configuration.limits;
  const wire = pollRequest(polling.address(submitted, call, upstream), upstream);
  const polls = Math.ceil(provider.timeouts.total_ms / provider.poll_interval_ms);
  let failures = 0;
  for (let poll = 0; poll < polls; poll += 1) {
    await pause(provider.poll_interval_ms, client.signal);
    try {
      const body = await requestJson(network, provider, wire, answer_bytes, client);
      if (!polling.isPending(body, call, upstream)) return body;
      failures = 0;
    } catch (error) {
      failures += 1;
      const isTransient = error instanceof UpstreamError && TRANSIENT.has(error.fault);
      if (!isTransient || client.signal.aborted || failures > MAX_FAILURES) throw error;
    }
  }
  throw new UpstreamError('timeout', 'The upstream took too long to make the image.');
}

/** The request has the key, so the address that the upstream gave must be on its own hosts. */
function pollRequest(path: string, { provider }: Upstream): WireRequest {
  if (!isAbsolute(path) || (URL.canParse(path) && isOwn(provider, new URL(path)))) {
    return { method: 'GET', path, headers: { accept: 'application/json' }, body: undefined };
  }
  const message = 'The upstream gave an address to poll for the image that is not on its own host.';
  throw new UpstreamError('broken', message);
}

/** Waits. Throws the reason of the signal as soon as it is aborted. */
async function pause(ms: number, signal: LightAbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const listener = { handleEvent: () => done() };
    const timer = setTimeout(() => done(), ms);
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', listener);
      resolve();
    };
    signal.addEventListener('abort', listener);
  });
  signal.throwIfAborted();
}
