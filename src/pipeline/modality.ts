import type { IncomingHttpHeaders } from 'node:http';
import type { Bill } from '../billing/bill.js';
import type { SampleBill } from '../billing/sample-bill.js';
import type { Capability, Model, Price, Upstream } from '../core/model.js';
import type { Configuration, EndpointEntry } from '../core/configuration.js';
import type { GatewayError } from '../core/errors.js';
import type { ProviderOperation } from '../core/provider.js';
import type { ClientConnection } from '../http/client-connection.js';
import type { ModelListFormat } from './model-list-format.js';
import type { SocketFormat } from './socket-talk.js';
import type { FailedRequest, PathParams, Request, Shape, State } from './stage.js';
import type { PriceEntry } from '../schema-types/gateway.js';
import type { ProviderManifest } from '../schema-types/provider.js';
import type { Network } from '../upstream/network-types.js';
import type { Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { FindMoved } from '../lib/source-texts.js';
import type { SecondPath } from './second-path.js';
import type { Services } from './services.js';
import { walkTexts, type EachText, type TextShape } from './text-walk.js';
import type { Answer, RoutedTask, Work } from './work.js';

/** An endpoint that ships with the gateway; `endpoints` in gateway.yaml are merged over it. */
export interface DefaultEndpoint {
  readonly name: string;
  /** Its method and path. */
  readonly at: string;
  readonly stages: readonly (string | Readonly<Record<string, unknown>>)[];
  /** A second path at which it is served too. */
  readonly also?: SecondPath;
}

/** The description of an endpoint in the OpenAPI document. */
export interface Description {
  readonly summary: string;
  readonly details?: string;
  /** The status of success. */
  readonly status: 200 | 202;
  /** The content of the answer by media type: the name of a schema, or `bytes`. */
  readonly content: Readonly<Record<string, string>>;
  readonly refusals?: readonly number[];
  /** The name of the schema of its errors; absent if they are those of its format. */
  readonly error_schema?: string;
  /** The name of the schema of its query. */
  readonly query?: string;
}

/** A capability that a part of a body needs. */
export interface Need {
  readonly capability: Capability;
  /** The part of the body. */
  readonly param: string;
  /** What the model does not take without it. */
  readonly what: string;
}

/** What is left of a limit by the minute, and when its minute ends, in ms since 1970. */
export interface RateLeft {
  limit: number;
  remaining: number;
  reset_ms: number;
}

/** What is left for a request by the limits of which the least is left. */
export type RatesLeft = Readonly<Partial<Record<'requests' | 'tokens', RateLeft>>>;

/** A format in which clients send requests to a modality, named by `validate: NAME`. */
export interface RequestFormat {
  /** Also the name of the schema of its body, `schemas/NAME.schema.json`. */
  readonly name: string;
  readonly endpoint: DefaultEndpoint;
  /** True if a body may also be `multipart/form-data`; its files are read as data: URLs. */
  readonly form?: boolean;
  readonly description: Description;
  /**
   * The header in which its clients send their API key, in lower case; `Authorization` works too.
   */
  readonly key_header?: string;
  /** The response header in which its clients look for the request's ID, beside `x-request-id`. */
  readonly id_header?: string;
  /** Further request headers that it reads, in lower case. */
  readonly headers?: readonly string[];
  /** The query parameter in which clients may send their API key instead. */
  readonly key_query?: string;
  /** Finds the texts of a large body that the gateway need not read; by default it reads all. */
  readonly findMoved?: FindMoved;
  /**
   * Changes the spelling of fields, in place, to the one that the schema knows, if the API accepts
   * several.
   */
  readonly normalize?: (body: unknown) => void;
  /**
   * Repairs a body that breaks the schema in an unambiguous way, such as null in an optional field.
   * Changes it in place; returns false if there was nothing to repair.
   */
  readonly repair?: (body: unknown) => boolean;
  /**
   * What a model must be able to do for the field at fault, from the outside in; absent if no model
   * that has the endpoint's capability lacks anything.
   */
  readonly needs?: (body: unknown, param: string) => readonly Need[];
  /** Locates the texts in a body that people, models and tools have written. */
  readonly texts: TextShape;
  /** How models are listed to its clients, by `models: NAME` or by the headers that they send. */
  readonly models?: ModelListFormat;
  /** The public ID of the model, from the body or from the path. */
  modelOf(body: object, params: PathParams): string;
  /**
   * Whether a request that no endpoint takes is of its API; absent if its clients parse the common
   * shape.
   */
  owns?(method: string, path: string): boolean;
  /** Writes the body of an error; absent if its clients parse the common shape. */
  error?(error: GatewayError, request_id: string): object;
  /** Further headers that tell its clients what is left of their rates. */
  rateHeaders?(left: RatesLeft): Readonly<Record<string, string>>;
  /** The name of the schema of these bodies. */
  readonly error_schema?: string;
  /**
   * Writes an error as a whole stream, for a client that asked for a stream. Undefined if the error
   * is sent as an HTTP status. Some clients retry after a status even if a retry cannot succeed.
   */
  errorStream?(error: GatewayError, failed: FailedRequest): string | undefined;
  /** How its clients talk over a WebSocket, at the path of its endpoint; absent if they do not. */
  readonly socket?: SocketFormat;
}

/**
 * The operation that `transform: NAME` runs. Its shape declares the facts it needs and gives, and
 * its effect on money.
 */
export interface Operation {
  readonly name: string;
  readonly shape: Shape;
  /** The format of the request body, if it has one; an operator's own schema refines it. */
  readonly format?: string;
  /** Absent if its format has one. */
  readonly description?: Description;
  /** Absent if it sends the work of the request to its upstreams, one after another. */
  readonly run?: (state: State, client: ClientConnection, services: Services) => Promise<Answer>;
}

/**
 * Finds the task that the path of a `route: NAME` endpoint names. Throws `GatewayError` if there is
 * none.
 */
export type FindTask = (
  params: PathParams,
  state: State,
  services: Services,
) => Promise<RoutedTask>;

/** A unit of a price: the capabilities that it prices, and the reader of its amounts. */
export interface PriceUnit {
  pays: readonly Capability[];
  /** Set for a class of tokens: without a price of its own it has the price of input or output. */
  is_class?: true;
  /** Why other work has no such price, for sentences; by default that it pays for the others. */
  why?: string;
  /**
   * Whether a price with these units must have this one too. Absent if every price must have it.
   */
  isWanted?: (given: readonly string[]) => boolean;
  /** Absent for units of tokens, which every price has, and where another modality reads it. */
  read?: (source: Source, pointer: string, entry: PartialLoad<PriceEntry>) => Partial<Price>;
}

/** A manifest, and the function that imports the parts of adapters that it names. */
export interface ManifestReader {
  source: Source;
  data: PartialLoad<ProviderManifest>;
  /**
   * Resolves with the export `wanted` of the adapter `name`. Without such an export it reports a
   * fault at `pointer` and resolves with undefined.
   */
  importPart: <Part>(
    pointer: string,
    name: string | undefined,
    wanted: string,
    isPart: (value: unknown) => value is Part,
  ) => Promise<Part | undefined>;
}

/** How the manifest of a provider declares operations of the modality. */
export interface ManifestSide {
  /** Lists of operations. A manifest that serves the modality has all operations of one list. */
  readonly served_by: readonly (readonly string[])[];
  /**
   * Resolves with the provider's operation; undefined if the manifest has none, or has faults in
   * it.
   */
  read(manifest: ManifestReader): Promise<ProviderOperation | undefined>;
}

/** A call that a newcomer can paste. */
export interface SampleCall {
  path: string;
  body: Readonly<Record<string, unknown>>;
  /** The name of a file that is uploaded with the body, as a form. */
  upload?: string;
  /**
   * The method of OpenAI's client libraries, and the expression for the part of the answer that is
   * printed. Absent for a task, whose `status_url` is polled until it has ended.
   */
  client?: { method: string } & (
    | { python: string; node: string }
    // Or the name of the file to which an answer of bytes is saved.
    | { saved_as: string }
  );
}

/** The services for a call that the gateway makes for itself: no account, no hold, no store. */
export interface ProbeContext {
  configuration: Configuration;
  network: Network;
  client: ClientConnection;
}

/** How gateway.yaml and manifests speak of a modality. */
export interface ModalityConfiguration {
  /** Capabilities that refine it and need it, such as `vision` for chat. */
  readonly refinements: readonly Capability[];
  readonly units: Readonly<Record<string, PriceUnit>>;
  readonly manifest: ManifestSide;
  /** What its models do, for sentences: `makes videos`. */
  readonly does: string;
  /** The names of models that do this work alone. */
  readonly model_names?: RegExp;
  /**
   * Fields of its requests. `own` are known without `passthrough`; the hold is computed from
   * `held`; `refused` must not be listed under `passthrough`.
   */
  readonly fields: Readonly<Record<'own' | 'held' | 'refused', readonly string[]>> & {
    /** The schemas whose fields `default` may have, `NAME#BLOCK` for those of a block. */
    readonly default_schemas: readonly string[];
    /** Fields of them that a client alone can mean. */
    readonly undefaulted?: readonly string[];
  };
}

/** How a modality is shown to people: on pages, in documents and by `explain`. */
export interface ModalityDocumentation {
  example: (model: Model) => Promise<SampleBill>;
  /** Default values of the fields on which the price of a call depends. */
  readonly defaults?: (model: Model) => Readonly<Record<string, string | number | boolean>>;
  sampleCall(model_id: string): SampleCall;
  /** Its title and example prompts in the playground; absent if the playground cannot call it. */
  readonly playground?: { title: string; ideas: readonly string[] };
}

/** One kind of work, such as chat: how a request becomes work. */
export interface Modality {
  /** The capability, and the word in `route:`. */
  readonly name: Capability;
  readonly formats: readonly RequestFormat[];
  /** Endpoints beside those of its formats. */
  readonly endpoints: readonly DefaultEndpoint[];
  readonly operations: readonly Operation[];
  /** The options of `route:` that find a task instead of a model. */
  readonly tasks: Readonly<Record<string, FindTask>>;
  /** Fits a validated request to a model. Throws `GatewayError` if the model cannot do it. */
  plan(request: Request, model: Model): Work;
  /**
   * Sends the cheapest possible request to an upstream and resolves with its bill. Absent if even
   * that is expensive. Throws `UpstreamError` if the upstream fails.
   */
  readonly probe?: (model: Model, upstream: Upstream, context: ProbeContext) => Promise<Bill>;
  readonly configuration: ModalityConfiguration;
  readonly documentation: ModalityDocumentation;
}

/** All modalities, by name. */
export type Modalities = ReadonlyMap<string, Modality>;

/** All formats of requests. */
export function formatsOf(modalities: Modalities): RequestFormat[] {
  return [...modalities.values()].flatMap(({ formats }) => formats);
}

/** The format of an endpoint's clients; undefined if it is the common one. */
export function formatOf(
  modalities: Modalities,
  { traits }: Pick<EndpointEntry, 'traits'>,
): RequestFormat | undefined {
  return formatsOf(modalities).find(({ name }) => name === traits?.format);
}

/** The format whose API a request belongs to that no endpoint takes. */
export function formatOfPath(
  modalities: Modalities,
  method: string,
  path: string,
): RequestFormat | undefined {
  const formats = formatsOf(modalities);
  return formats.find((format) => format.owns?.(method, path));
}

/**
 * Returns a function that visits the texts of a request. It throws an `Error` for an unknown
 * format.
 */
export function textReader(modalities: Modalities): EachText {
  const formats = formatsOf(modalities);
  const shapes = new Map(formats.map(({ name, texts }) => [name, texts]));
  return ({ format, body }, visit) => {
    const shape = shapes.get(format);
    if (shape === undefined) throw new Error(`No format is called ${format}.`);
    walkTexts(body, shape, visit);
  };
}

/**
 * For an endpoint that answers the clients of all formats: returns a function that finds a client's
 * format by its request headers. Undefined for every other endpoint.
 */
export function clientFormatReader(
  modalities: Modalities,
  { traits }: Pick<EndpointEntry, 'traits'>,
): ((headers: IncomingHttpHeaders) => RequestFormat | undefined) | undefined {
  if (!traits?.all_formats) return undefined;
  const formats = formatsOf(modalities);
  return (headers) =>
    formats.find(({ models }) => models?.known_by.some((name) => headers[name] !== undefined));
}
