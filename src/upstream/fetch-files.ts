import type { Provider } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';
import { LightAbortController, type LightAbortSignal } from '../lib/light-abort.js';
import { ReplyTooLarge, type ReplyMemory } from './reply-body.js';
import type { Network } from './network-types.js';
import { readBytes, skipBody, type CallScope } from './upstream-request.js';
import { followRedirects } from './redirects.js';
import { NotPublic } from './ssrf-guard.js';

/** A client's URL cannot be fetched. The message is a predicate of it, such as `took too long`. */
export class Unfetchable extends Error {
  override name = 'Unfetchable';
  constructor(
    readonly url: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/** The limits for fetching all files of a request: the time, and the size of all files. */
export interface FetchLimits {
  fetch_ms: number;
  fetch_bytes: number;
}

const HEADERS = { accept: '*/*', 'user-agent': 'tollgate' };

/**
 * Fetches the files at a client's URLs, by URL. Only public addresses are called, also after a
 * redirect. Throws `Unfetchable`, the reason of an abort, or the error of a full memory budget.
 */
export async function fetchFiles(
  urls: readonly string[],
  limits: FetchLimits,
  network: Network,
  { signal, memory }: CallScope,
): Promise<Map<string, Buffer>> {
  const stop = new LightAbortController();
  const onAbort = { handleEvent: () => stop.abort(signal.reason) };
  signal.throwIfAborted();
  signal.addEventListener('abort', onAbort);
  const late = (): void => stop.abort(new UpstreamError('timeout', 'The time to fetch is over.'));
  const timer = setTimeout(late, limits.fetch_ms);
  const files = new Map<string, Buffer>();
  let bytes = 0;
  try {
    await Promise.all(
      urls.map(async (url) => {
        const file = await fetchFile(url, limits, network, stop, memory);
        bytes += file.length;
        if (bytes > limits.fetch_bytes) throw new Unfetchable(url, tooMuch(limits));
        files.set(url, file);
      }),
    );
    return files;
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function fetchFile(
  url: string,
  limits: FetchLimits,
  network: Network,
  signal: LightAbortSignal,
  memory: ReplyMemory | undefined,
): Promise<Buffer> {
  const request = { method: 'GET', path: url, headers: {}, body: undefined } as const;
  const download = { noun: 'the file', total_ms: limits.fetch_ms, headers: HEADERS };
  try {
    const provider = foreignProvider(limits.fetch_ms);
    const reply = await followRedirects(request, provider, download, network, signal);
    if (reply.status === 200) return await readBytes(reply, limits.fetch_bytes, memory);
    await skipBody(reply);
    throw new Unfetchable(url, `is answered with status ${reply.status}`);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw new Unfetchable(url, reasonOf(error, limits), { cause: error });
  }
}

/** A provider that owns no address: every address must be public, and gets no credentials. */
function foreignProvider(ms: number): Provider {
  return {
    name: 'nobody',
    manifest: 'nobody',
    base_url: 'https://nobody.invalid',
    headers: {},
    operations: new Map(),
    timeouts: { connect_ms: ms, first_byte_ms: ms, idle_ms: ms, total_ms: ms },
    poll_interval_ms: 0,
    on_abort: 'abort',
    local: undefined,
    wire: {},
  };
}

function reasonOf(error: UpstreamError, limits: FetchLimits): string {
  if (error instanceof ReplyTooLarge) return tooMuch(limits);
  if (error instanceof NotPublic) return 'leads to an address that is not public';
  if (error.fault === 'timeout') return 'took too long';
  return error.fault === 'unreachable' ? 'cannot be reached' : 'cannot be read';
}

function tooMuch({ fetch_bytes }: FetchLimits): string {
  return `is more than the ${fetch_bytes} bytes that the files of a request may weigh`;
}
