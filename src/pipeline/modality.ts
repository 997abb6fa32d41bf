import type { SampleBill } from '../billing/sample-bill.js';
import type { Capability, Model, Price } from '../core/model.js';
import type { ProviderOperation } from '../core/provider.js';
import type { ClientConnection } from '../http/client-connection.js';
import type { PathParams } from '../http/params.js';
import type { PriceEntry } from '../schema-types/gateway.js';
import type { ProviderManifest } from '../schema-types/provider.js';
import type { Source } from '../yaml/source.js';
import type { PartialLoad } from '../yaml/validate.js';
import type { Services } from './services.js';
import type { Request, Shape, State } from './stage.js';
import type { Answer, RoutedTask, Work } from './work.js';

/** How clients speak to a modality: a request body, named by `validate: NAME`. */
export interface RequestFormat {
  /** `schemas/NAME.schema.json` says what a body may be. */
  readonly name: string;
  /** The public ID of the model, from the body or from the path. */
  modelOf(body: object, params: PathParams): string;
}

/** The work that `transform: NAME` does. It says what it needs, and what it does with money. */
export interface Operation {
  readonly name: string;
  readonly shape: Shape;
  /** The format of the request body, where there is one; an operator's own schema refines it. */
  readonly format?: string;
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

/** One kind of work: how a request becomes work, and how providers, prices and bills are read. */
export interface Modality {
  /** The capability, and the word in `route:`. */
  readonly name: Capability;
  /** Capabilities that refine it and are of no use without it. */
  readonly refinements: readonly Capability[];
  readonly formats: readonly RequestFormat[];
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
}

/** All modalities, by name. */
export type Modalities = ReadonlyMap<string, Modality>;
