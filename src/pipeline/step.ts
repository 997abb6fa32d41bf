import type { EndpointEntry, EndpointTraits, StageEntry } from '../core/configuration.js';
import type { ConfigFault } from '../core/config-fault.js';
import type { Shape } from './stage.js';

/** A stage of an endpoint with its contract. */
export interface Step {
  entry: StageEntry;
  shape: Shape;
}

/** What the shapes of its stages say of an endpoint. The first of several formats counts. */
export function traitsOf(shapes: readonly Shape[]): EndpointTraits {
  return {
    records: shapes.some(({ records }) => records),
    format: shapes.find(({ format }) => format !== undefined)?.format,
    all_formats: shapes.some(({ all_formats }) => all_formats),
    gives: shapes.flatMap(({ gives }) => gives),
    money: shapes.flatMap(({ money }) => money ?? []),
    answers: shapes.find(({ answers }) => answers !== undefined)?.answers,
    own_schemas: shapes.flatMap(({ own_schema }) => own_schema ?? []),
  };
}

/** The beginning of a message about a stage. */
export function subjectOf({ entry }: Step, { name }: EndpointEntry): string {
  return `stage "${entry.name}" of endpoint "${name}"`;
}

/** A fault of a stage in one endpoint. */
export interface StageFault extends ConfigFault {
  /** What tells it from others of its code at its place, such as the fact that is missing. */
  about: string;
  /** The message without the endpoint, where that does not matter. */
  of_all?: string;
}

/** A fault at a stage. */
export function fault(
  entry: StageEntry,
  code: string,
  message: string,
  hint: string,
  about = '',
): StageFault {
  return { severity: 'error', code, ...entry.place, message, hint, about };
}
