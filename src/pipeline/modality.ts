import type { IncomingHttpHeaders } from 'node:http';
import type { Bill } from '../billing/bill.js';
import type { SampleBill } from '../billing/sample-bill.js';
import type { Capability, Model, Price, Upstream } from '../core/model.js';
import type { Configuration, EndpointEntry } from '../core/configuration.js';
import type { GatewayError } from '../core/errors.js';
import type { ProviderOperation } from '../core/provider.js';
import type { ClientConnection } from '../http/client-connection.js';
import type { ModelWords } from './model-words.js';
import type { FailedRequest, PathParams, Request, Shape, State } from './stage.js';
import type { PriceEntry } from '../schema-types/gateway.js';
import type { ProviderManifest } from '../schema-types/provider.js';
import type { Network } from '../upstream/network-types.js';
import type { Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Services } from './services.js';
import { walkTexts, type EachText, type TextShape } from './text-walk.js';
import type { Answer, RoutedTask, Work } from './work.js';

/** An endpoint that stands where the file has no `endpoints`. */
export interface DefaultEndpoint {
  readonly name: string;
  /** Its method and path. */
  readonly at: string;
  readonly stages: readonly (string | Readonly<Record<string, unknown>>)[];
}

/** What the description of the API says of an endpoint. */
export interface Description {
  readonly summary: string;
  readonly details?: string;
  /** The status of success. */
  readonly status: 200 | 202;
  /** What the answer is, by media type: the name of a schema, or `bytes`. */
  readonly content: Readonly<Record<string, string>>;
  readonly refusals?: readonly number[];
  /** The schema of the query that it reads. */
  readonly query?: string;
}

/** How clients speak to a modality: a request body, named by `validate: NAME`. */
export interface RequestFormat {
  /** `schemas/NAME.schema.json` says what a body may be. */
  readonly name: string;
  readonly endpoint: DefaultEndpoint;
  /** True where a body may also be `multipart/form-data`; its files are read as data: URLs. */
  readonly form?: boolean;
  readonly description: Description;
  /** A header that its clients send their API key in, in lower case; `Authorization` works too. */
  readonly key_header?: string;
  /** Further headers of a request that it reads, in lower case. */
  readonly headers?: readonly string[];
  /** A parameter of the query that they may send it in instead. */
  readonly key_query?: string;
  /** Gives the fields of a body the one spelling that its schema knows, where they have several. */
  readonly spell?: (body: unknown) => unknown;
  /**
   * Changes a body that breaks the schema where that can only mean one thing, such as null in an
   * optional field; false where there is nothing to change.
   */
  readonly mend?: (body: unknown) => boolean;
  /** Where in a body are the texts that people, models and tools have written. */
  readonly texts: TextShape;
  /** How its clients see models: those of `models: NAME`, or of who sends its headers. */
  readonly models?: ModelWords;
  /** The public ID of the model, from the body or from the path. */
  modelOf(body: object, params: PathParams): string;
  /** The body of an error, where its clients parse another shape than the one of all others. */
  error?(error: GatewayError, request_id: string): object;
  /**
   * The whole stream that tells an error to a client that asked for a stream, where it would ask
   * again for nothing if a status told it; undefined where the status tells it.
   */
  errorStream?(error: GatewayError, failed: FailedRequest): string | undefined;
}

/** The work that `transform: NAME` does. It says what it needs, and what it does with money. */
export interface Operation {
  readonly name: string;
  readonly shape: Shape;
  /** The format of the request body, where there is one; an operator's own schema refines it. */
  readonly format?: string;
  /** Left out where its format has one. */
  readonly description?: Description;
  run(state: State, client: ClientConnection, services: Services): Promise<Answer>;
}

/** How `route: NAME` finds the task that a path names. Throws `GatewayError` without one. */
export type FindTask = (
  params: PathParams,
  state: State,
  services: Services,
) => Promise<RoutedTask>;

/** A unit of a price: the capabilities that it pays for, and how its amounts are read. */
export interface PriceUnit {
  pays: readonly Capability[];
  /** Set for a class of tokens, which pays its input's or output's price where it is left out. */
  is_class?: true;
  /** Whether a price of these units has to have it too; where left out, any price has to. */
  isWanted?: (given: readonly string[]) => boolean;
  /** Left out for units of tokens, which every price has. */
  read?: (source: Source, pointer: string, entry: PartialLoad<PriceEntry>) => Partial<Price>;
}

/** What a manifest says, and how a part of an adapter that it names is imported. */
export interface ManifestReader {
  source: Source;
  data: PartialLoad<ProviderManifest>;
  /** The export `wanted` of the adapter `name`; undefined, and a fault at `pointer`, without it. */
  importPart: <Part>(
    pointer: string,
    name: string | undefined,
    wanted: string,
    isPart: (value: unknown) => value is Part,
  ) => Promise<Part | undefined>;
}

/** How a manifest serves a modality. */
export interface ManifestSide {
  /** Lists of operations, one of which a manifest must have in full. */
  readonly served_by: readonly (readonly string[])[];
  /** The provider's operation; undefined where the manifest has none, or has it with faults. */
  read(manifest: ManifestReader): Promise<ProviderOperation | undefined>;
}

/** A call that a newcomer can paste. */
export interface SampleCall {
  path: string;
  body: Readonly<Record<string, unknown>>;
  /** The name of a file that goes with the body, as a form. */
  upload?: string;
  /**
   * The method of OpenAI's client libraries, and the part of the answer that is printed. Left out
   * for a task, whose `status_url` is asked until it has ended.
   */
  client?: { method: string } & (
    | { python: string; node: string }
    // Or the name of the file that an answer of bytes is kept in.
    | { saved_as: string }
  );
}

/** What a call takes that the gateway makes for itself: no account, no hold, no store. */
export interface Probing {
  configuration: Configuration;
  network: Network;
  client: ClientConnection;
}

/** One kind of work: how a request becomes work, and how providers, prices and bills are read. */
export interface Modality {
  /** The capability, and the word in `route:`. */
  readonly name: Capability;
  /** Capabilities that refine it and are of no use without it. */
  readonly refinements: readonly Capability[];
  readonly formats: readonly RequestFormat[];
  /** Beside those of its formats. */
  readonly endpoints: readonly DefaultEndpoint[];
  readonly operations: readonly Operation[];
  /** Words of `route:` that find a task instead of a model. */
  readonly tasks: Readonly<Record<string, FindTask>>;
  readonly units: Readonly<Record<string, PriceUnit>>;
  readonly manifest: ManifestSide;
  /**
   * Fields of its requests: `own` travel by themselves, the hold rests on `held`, and `refused` may
   * not be passed through.
   */
  readonly fields: Readonly<Record<'own' | 'held' | 'refused', readonly string[]>>;
  /** Fits a checked request to a model. Throws `GatewayError` for what the model cannot take. */
  plan(request: Request, model: Model): Work;
  example: (model: Model) => Promise<SampleBill>;
  /** What the price of a call goes by, where its client leaves it out. */
  readonly defaults?: (model: Model) => Readonly<Record<string, string | number | boolean>>;
  sampleCall(model_id: string): SampleCall;
  /**
   * Asks an upstream for the least there is, the way a request does, and answers what it cost; left
   * out where even the least is dear. Throws `UpstreamError` where that one does not answer.
   */
  readonly probe?: (model: Model, upstream: Upstream, probing: Probing) => Promise<Bill>;
  /** Its title and first prompts in the playground; left out where that cannot call it. */
  readonly playground?: { title: string; ideas: readonly string[] };
}

/** All modalities, by name. */
export type Modalities = ReadonlyMap<string, Modality>;

/** Stages that answer something about models, in the words of a format. */
const MODEL_STAGES = ['models', 'model'];

/** The format of the requests of an endpoint; undefined where it has none. */
export function formatOf(
  modalities: Modalities,
  { stages }: Pick<EndpointEntry, 'stages'>,
): RequestFormat | undefined {
  const optionOf = (stage: string): unknown => stages.find(({ name }) => name === stage)?.option;
  const all = [...modalities.values()];
  const formats = all.flatMap((modality) => modality.formats);
  const named = ['validate', ...MODEL_STAGES].map(optionOf);
  const found = formats.find(({ name }) => named.includes(name));
  if (found) return found;
  const word = optionOf('transform');
  const operation = all.flatMap(({ operations }) => operations).find(({ name }) => name === word);
  return formats.find(({ name }) => name === operation?.format);
}

/** Finds the texts of a request by its format. Throws an error for a format that nobody knows. */
export function textReader(modalities: Modalities): EachText {
  const formats = [...modalities.values()].flatMap((modality) => modality.formats);
  const shapes = new Map(formats.map(({ name, texts }) => [name, texts]));
  return ({ format, body }, visit) => {
    const shape = shapes.get(format);
    if (shape === undefined) throw new Error(`No format is called ${format}.`);
    walkTexts(body, shape, visit);
  };
}

/**
 * Finds the format of who asks by the headers, at an endpoint that lists models to the clients of
 * all formats; undefined for every other endpoint.
 */
export function speakerAt(
  modalities: Modalities,
  { stages }: Pick<EndpointEntry, 'stages'>,
): ((headers: IncomingHttpHeaders) => RequestFormat | undefined) | undefined {
  if (!stages.some(({ name, option }) => MODEL_STAGES.includes(name) && !option)) return undefined;
  const formats = [...modalities.values()].flatMap((modality) => modality.formats);
  return (headers) =>
    formats.find(({ models }) => models?.known_by.some((name) => headers[name] !== undefined));
}
