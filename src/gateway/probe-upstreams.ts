import type { Bill } from '../billing/bill.js';
import { modelNamed, type Configuration } from '../core/configuration.js';
import { GatewayError } from '../core/errors.js';
import type { Model, Upstream } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import { UpstreamError, type Fault } from '../core/upstream-error.js';
import type { ClientConnection } from '../http/client-connection.js';
import { gatewayConnection } from '../http/gateway-connection.js';
import { MODALITIES } from '../modalities/index.js';
import type { Modality } from '../pipeline/modality.js';
import { createNetwork } from '../upstream/network.js';
import type { Network } from '../upstream/network-types.js';
import { readError } from '../upstream/upstream-request.js';
import { createTokenSource, withCredentials } from '../upstream/credentials.js';

/** An upstream to probe: by a paid call of a modality, or only by whether its provider answers. */
export interface ProbeTarget {
  provider: Provider;
  /** Absent for a provider that no model uses. */
  use?: { model: Model; upstream: Upstream; modality: Modality };
}

/** The findings of a probe; null for a property that it cannot tell. */
interface Outcome {
  key_accepted: boolean | null;
  model_found: boolean | null;
  usage_reported: boolean | null;
  cost_nano: bigint;
  /** Why the probe failed, without secrets; null if it succeeded. */
  complaint: string | null;
}

export interface Probed extends Outcome {
  target: ProbeTarget;
  /** Whether the probe was a paid call; else it only reached the provider, without credentials. */
  is_paid: boolean;
  latency_ms: number;
}

/** The upstreams of all models, or those of the model or provider called `name`. */
export function probeTargets(configuration: Configuration, name?: string): ProbeTarget[] {
  const { models, providers } = configuration;
  const model = name === undefined ? undefined : modelNamed(configuration, name);
  const all = [...models.values()].flatMap(usesOf);
  if (name === undefined) return all;
  if (model) return usesOf(model);
  const provider = providers.get(name);
  const own = all.filter((target) => target.provider === provider);
  return own.length > 0 || !provider ? own : [{ provider }];
}

function usesOf(model: Model): ProbeTarget[] {
  const able = [...MODALITIES.values()].filter(({ name }) => model.capabilities.has(name));
  return model.upstreams.flatMap((upstream) =>
    able.map((modality) => ({ provider: upstream.provider, use: { model, upstream, modality } })),
  );
}

export interface ProbeOptions {
  /** The time limit of one probe. */
  timeout_ms: number;
  now: () => number;
}

/** Concurrent probes. */
const CONCURRENCY = 8;

/** Sends the cheapest possible call to each upstream, once. Resolves in the order of `targets`. */
export async function probeUpstreams(
  targets: readonly ProbeTarget[],
  configuration: Configuration,
  options: ProbeOptions,
): Promise<Probed[]> {
  const { connections, idle_connection_ms: idle_ms } = configuration.limits;
  const tokens = createTokenSource(options.now);
  const sockets = createNetwork({ connections, idle_ms });
  const network = withCredentials(sockets, { tokens, now: options.now });
  const results: Probed[] = [];
  const waiting = [...targets.entries()];
  const runner = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [at, target] = next;
      results[at] = await probed(target, { configuration, network }, options);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, runner));
  } finally {
    await network.close();
  }
  return results;
}

interface ProbeServices {
  configuration: Configuration;
  network: Network;
}

async function probed(
  target: ProbeTarget,
  services: ProbeServices,
  { timeout_ms, now }: ProbeOptions,
): Promise<Probed> {
  const client = gatewayConnection();
  const late = new UpstreamError('timeout', `The upstream took longer than ${timeout_ms} ms.`);
  const timer = setTimeout(() => client.stop(late), timeout_ms);
  const begun_ms = now();
  let outcome: Outcome;
  try {
    outcome = await askUpstream(target, services, client);
  } catch (error) {
    outcome = failed(error);
  } finally {
    clearTimeout(timer);
    client.close();
  }
  const is_paid = target.use?.modality.probe !== undefined;
  return { target, is_paid, latency_ms: now() - begun_ms, ...outcome };
}

const UNKNOWN = { key_accepted: null, model_found: null, usage_reported: null, cost_nano: 0n };

async function askUpstream(
  { provider, use }: ProbeTarget,
  { configuration, network }: ProbeServices,
  client: ClientConnection,
): Promise<Outcome> {
  const probe = use?.modality.probe;
  if (use && probe) {
    const { model, upstream } = use;
    return answered(await probe(model, upstream, { configuration, network, client }), upstream);
  }
  // Any answer shows that the address is right. Without credentials, the request costs nothing.
  const request = { method: 'GET' as const, path: '', headers: {}, body: undefined };
  const answer = await network.send(provider, { ...request, credentials: false }, client.signal);
  await readError(answer);
  return { ...UNKNOWN, complaint: null };
}

function answered({ estimated, cost_nano }: Bill, { price }: Upstream): Outcome {
  const complaint =
    estimated && !price.free
      ? 'The upstream reports no usage that makes sense, so every charge is an estimate.'
      : null;
  const usage_reported = !estimated;
  return { key_accepted: true, model_found: true, usage_reported, cost_nano, complaint };
}

/** Failures that an upstream reports only after it has accepted the key. */
const AFTER_KEY: ReadonlySet<Fault> = new Set<Fault>(['missing', 'quota']);

function failed(error: unknown): Outcome {
  if (error instanceof GatewayError) return { ...UNKNOWN, complaint: error.message };
  if (!(error instanceof UpstreamError)) throw error;
  const { fault, message } = error;
  const isKnown = fault === 'credentials' || AFTER_KEY.has(fault);
  return {
    ...UNKNOWN,
    key_accepted: isKnown ? fault !== 'credentials' : null,
    model_found: fault === 'missing' ? false : null,
    complaint: message,
  };
}
