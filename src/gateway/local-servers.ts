import type { Provider } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';
import { isRecord } from '../lib/objects.js';
import { LightAbortController } from '../lib/light-abort.js';
import { createNetwork } from '../upstream/network.js';
import { requestJson } from '../upstream/upstream-request.js';
import type { Network } from '../upstream/network-types.js';

/** An address at which a local model server may listen. */
export interface LocalAddress {
  /** The name of its entry under `providers`. */
  name: string;
  /** The name of its manifest. */
  uses: string;
  base_url: string;
}

export interface LocalModel {
  id: string;
  /** The context window in tokens; undefined if the server does not report it. */
  context: number | undefined;
}

export type LocalOutcome =
  | { kind: 'models'; models: LocalModel[] }
  /** No server answers in time. */
  | { kind: 'silent' }
  /** A server answers, but cannot be used as it is. */
  | { kind: 'unusable'; reason: string };

const ANSWER_BYTES = 1024 * 1024;
/** A name that gateway.yaml can hold; a `$` could begin a variable. */
const MODEL_ID = /^[^\s\p{C}$]{1,200}$/u;

/** Asks each address for its list of models, all at the same time, without any key. */
export async function askLocalServers(
  addresses: readonly LocalAddress[],
  timeout_ms: number,
): Promise<LocalOutcome[]> {
  const network = createNetwork({ connections: 1, idle_ms: 1 });
  try {
    return await Promise.all(addresses.map((address) => askServer(network, address, timeout_ms)));
  } finally {
    await network.close();
  }
}

async function askServer(
  network: Network,
  address: LocalAddress,
  timeout_ms: number,
): Promise<LocalOutcome> {
  const request = { method: 'GET' as const, path: '/models', headers: {}, body: undefined };
  const signal = new LightAbortController();
  const late = new UpstreamError('timeout', 'The server took too long.');
  const timer = setTimeout(() => signal.abort(late), timeout_ms);
  try {
    const provider = providerOf(address, timeout_ms);
    return read(await requestJson(network, provider, request, ANSWER_BYTES, { signal }));
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    if (error.fault === 'unreachable' || error.fault === 'timeout') return { kind: 'silent' };
    const isLocked = error.fault === 'credentials';
    return { kind: 'unusable', reason: isLocked ? 'wants a key' : 'lists no models' };
  } finally {
    clearTimeout(timer);
  }
}

function providerOf({ name, uses, base_url }: LocalAddress, timeout_ms: number): Provider {
  return {
    name,
    manifest: uses,
    base_url,
    headers: {},
    operations: new Map(),
    timeouts: {
      connect_ms: timeout_ms,
      first_byte_ms: timeout_ms,
      idle_ms: timeout_ms,
      total_ms: timeout_ms,
    },
    poll_interval_ms: timeout_ms,
    on_abort: 'abort',
    local: undefined,
    wire: {},
  };
}

/** Reads `{ data: [{ id }] }`. Names that gateway.yaml cannot hold are left out. */
function read(answer: unknown): LocalOutcome {
  const data = isRecord(answer) ? answer.data : undefined;
  // Ollama sends null if it has no model.
  if (data !== null && !Array.isArray(data)) return { kind: 'unusable', reason: 'lists no models' };
  const models = ((data ?? []) as unknown[]).flatMap((entry): LocalModel[] => {
    const { id, max_model_len } = isRecord(entry) ? entry : {};
    if (typeof id !== 'string' || !MODEL_ID.test(id)) return [];
    const isWhole = Number.isSafeInteger(max_model_len) && Number(max_model_len) > 0;
    return [{ id, context: isWhole ? Number(max_model_len) : undefined }];
  });
  if (models.length === 0) return { kind: 'unusable', reason: 'has no model yet' };
  return { kind: 'models', models };
}
