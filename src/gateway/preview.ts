import { RequestNotes } from '../pipeline/request-record.js';
import type { Configuration, EndpointEntry } from '../core/configuration.js';
import { GatewayError } from '../core/errors.js';
import type { Model, Upstream } from '../core/model.js';
import type { Provider, WireRequest } from '../core/provider.js';
import { UpstreamError } from '../core/upstream-error.js';
import { gatewayConnection } from '../http/gateway-connection.js';
import { compileOwnSchema, compileShippedSchema } from '../http/body-schema.js';
import { parseJson } from '../lib/json-text.js';
import { MODALITIES } from '../modalities/index.js';
import { formatOf, type Modality } from '../pipeline/modality.js';
import type { Services } from '../pipeline/services.js';
import type { SendContext, Work } from '../pipeline/work.js';
import { begunTask } from '../store/tasks/task-rows.js';
import type { TaskStore } from '../store/tasks/task-types.js';
import { checkBody } from '../stages/validate.js';
import { ProviderHealth } from '../telemetry/provider-health.js';
import { maskSecrets, PLAIN_HEADERS } from '../upstream/classify-error.js';
import { withCredentials } from '../upstream/credentials.js';
import type { Network } from '../upstream/network-types.js';
import { outgoingRequest } from '../upstream/network.js';

/** A request as the gateway would send it, with dots in place of secrets. */
export interface PreviewedRequest {
  method: string;
  /** Null for a provider that answers in this process. */
  url: string | null;
  headers: Readonly<Record<string, string>>;
  /** Parsed if it is JSON; else the text, or the number of its bytes. */
  body: unknown;
}

/** The requests that one upstream would get for a body. */
export interface PreviewedUpstream {
  provider: string;
  model: string;
  requests: PreviewedRequest[];
  /** Names of the fields that this upstream does not accept, beside `Preview.ignored`. */
  ignored: readonly string[];
  /** Why it would get no request; null if it would get one. */
  refusal: string | null;
}

export interface Preview {
  /** The method and path of the endpoint that takes the body. */
  at: string;
  ignored: readonly string[];
  adjusted: readonly string[];
  upstreams: PreviewedUpstream[];
}

/**
 * Computes the requests that each upstream of a model would get for a client's body, and contacts
 * none. Uses the first endpoint that accepts the body with this model, without the operator's own
 * stages. Throws `GatewayError` if no endpoint accepts it.
 */
export async function previewRequests(
  body: Readonly<Record<string, unknown>>,
  model: Model,
  configuration: Configuration,
): Promise<Preview> {
  const { endpoint, work } = planned(body, model, configuration.endpoints);
  const upstreams: PreviewedUpstream[] = [];
  for (const upstream of model.upstreams) {
    const { provider } = upstream;
    const isAble = work.upstreams.includes(upstream);
    const previewed = isAble
      ? await preview(upstream, work, configuration)
      : { requests: [], refusal: 'it cannot do what the request asks for, or has no price for it' };
    const ignored = previewed.requests.length > 0 ? (work.leftOutBy?.(upstream) ?? []) : [];
    upstreams.push({ provider: provider.name, model: upstream.model, ignored, ...previewed });
  }
  const at = `${endpoint.method} ${endpoint.path}`;
  return { at, ignored: work.ignored, adjusted: work.adjusted ?? [], upstreams };
}

function planned(
  body: Readonly<Record<string, unknown>>,
  model: Model,
  endpoints: readonly EndpointEntry[],
): { endpoint: EndpointEntry; work: Work } {
  let refusal: unknown;
  for (const endpoint of endpoints) {
    const modality = modalityOf(endpoint);
    const format = formatOf(MODALITIES, endpoint);
    if (!modality || !format || !model.capabilities.has(modality.name)) continue;
    const pathNamesModel = endpoint.path.includes('{model}');
    const own = { ...structuredClone(body), ...(!pathNamesModel && { model: model.id }) };
    try {
      format.normalize?.(own);
      const files = endpoint.traits?.own_schemas ?? [];
      const ownSchemas = files.map((file) => compileOwnSchema(file, endpoint.main));
      checkBody(
        [compileShippedSchema(format.name), ...ownSchemas],
        own,
        format.repair?.bind(format),
      );
      return { endpoint, work: modality.plan({ format: format.name, body: own }, model) };
    } catch (error) {
      // A body of this format, which the model cannot serve: other formats would only misread it.
      const isRead = error instanceof GatewayError && error.code === 'unsupported_capability';
      if (isRead || !(error instanceof GatewayError)) throw error;
      refusal ??= error;
    }
  }
  throw refusal ?? new GatewayError('invalid_request', 'No endpoint takes a body for this model.');
}

/** The modality of an endpoint; undefined if the endpoint calls no upstream. */
function modalityOf({ traits }: EndpointEntry): Modality | undefined {
  if (!traits || !['holds', 'gates'].some((one) => traits.money.includes(one))) return undefined;
  return [...MODALITIES.values()].find(({ name }) => traits.gives.includes(`work:${name}`));
}

async function preview(
  upstream: Upstream,
  work: Work,
  configuration: Configuration,
): Promise<Pick<PreviewedUpstream, 'requests' | 'refusal'>> {
  const requests: PreviewedRequest[] = [];
  const client = gatewayConnection();
  const recorder: Network = {
    send: (provider, request) => {
      requests.push(shown(provider, request));
      return Promise.reject(new UpstreamError('unreachable', 'Nothing is sent.'));
    },
    close: () => Promise.resolve(),
  };
  // Fetching a real access token would contact its issuer.
  const tokens = { token: () => Promise.resolve(DOTS), drop: () => undefined };
  const network = withCredentials(recorder, { tokens, now: Date.now });
  try {
    await work.send(upstream, sendingOf(network, configuration, client));
  } catch (error) {
    if (!(error instanceof UpstreamError || error instanceof GatewayError)) throw error;
    if (requests.length === 0) return { requests, refusal: error.message };
  } finally {
    client.close();
  }
  return { requests, refusal: null };
}

/**
 * The services that a call uses until it sends its first request: no account, no hold, no store.
 */
function sendingOf(
  network: Network,
  configuration: Configuration,
  client: SendContext['client'],
): SendContext {
  const done = (): Promise<void> => Promise.resolve();
  const tasks: Pick<TaskStore, 'begin' | 'retarget'> = {
    begin: (intent) => Promise.resolve(begunTask(intent, null, Date.now())),
    retarget: done,
  };
  const hold = { amount_nano: null, handOver: <Moved>(move: () => Promise<Moved>) => move() };
  const services = {
    configuration,
    network,
    now: Date.now,
    health: new ProviderHealth(Date.now),
    store: { tasks },
  };
  return {
    request_id: 'preview',
    endpoint: undefined,
    caller: { key_id: '', account_id: '', models: undefined },
    hold: hold as unknown as SendContext['hold'],
    client,
    notes: new RequestNotes(),
    services: services as unknown as Services,
  };
}

const DOTS = '········';
const SECRET_NAME = /auth|key|token|secret|cookie|signature|password|credential/iu;

function shown(provider: Provider, request: WireRequest): PreviewedRequest {
  const { method } = request;
  if (provider.local) {
    const { headers, body } = request;
    return { method, url: null, headers, body: bodyOf(body, provider) };
  }
  const { url, headers, body } = outgoingRequest(provider, request);
  return {
    method,
    url: urlOf(url, provider),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, headerOf(name, value, provider)]),
    ),
    body: bodyOf(body, provider),
  };
}

/**
 * Shows the value of a header if it is known to be no secret. The operator's own headers may be
 * secrets. For credentials, the scheme (`Bearer`) is shown.
 */
function headerOf(name: string, value: string, provider: Provider): string {
  const low = name.toLowerCase();
  const own = Object.keys(provider.headers).some((one) => one.toLowerCase() === low);
  if (PLAIN_HEADERS.has(low) || DAY.test(value)) return value;
  if (!own && !SECRET_NAME.test(name)) return withoutSecrets(value, provider);
  const space = value.indexOf(' ');
  return space === -1 ? DOTS : `${value.slice(0, space)} ${DOTS}`;
}

/** A date, by which APIs name their versions. */
const DAY = /^\d{4}-\d{2}-\d{2}$/u;

function urlOf(url: string, provider: Provider): string {
  const [address = '', query] = url.split('?', 2);
  const parts = query?.split('&').map((part) => {
    const [name = ''] = part.split('=', 1);
    return SECRET_NAME.test(name) ? `${name}=${DOTS}` : part;
  });
  return withoutSecrets([address, ...(parts ? [parts.join('&')] : [])].join('?'), provider);
}

function withoutSecrets(text: string, provider: Provider): string {
  return maskSecrets(text, provider).replaceAll('***', DOTS);
}

function bodyOf(body: WireRequest['body'] | null, provider: Provider): unknown {
  if (body === undefined || body === null) return null;
  if (typeof body !== 'string') return `${body.byteLength} bytes`;
  const text = withoutSecrets(body, provider);
  return parseJson(text) ?? text;
}
