import type { ExportClass } from '../core/provider-export.js';
import type { Cause } from './causes.js';

/** One side of a comparison. What the export does not have is null on both sides. */
export interface ReportedSide {
  calls: number | null;
  tokens: Partial<Record<ExportClass, number>> | null;
  /** Dollars. */
  cost: string | null;
}

interface Reported {
  bill: ReportedSide;
  ledger: ReportedSide;
  /** The bill less the ledger, in dollars; null where the export has no costs. */
  difference: string | null;
  /** The same of the larger side, in percent, or of the tokens where there are no costs. */
  percent: number;
  within: boolean;
}

export interface ReportedDay extends Omit<Reported, 'within'> {
  day: string;
}

export interface ReportedModel extends Reported {
  /** As the provider names it. */
  model: string;
  /** How the export names it, where that is another name. */
  names: string[];
  causes: Cause[];
  days: ReportedDay[];
}

/** A name in the export that no upstream model has, or several. */
export interface UnmatchedName extends Pick<ReportedSide, 'calls' | 'cost'> {
  name: string;
  tokens: number | null;
  several: string[];
}

/** A comparison of a provider's export with the ledger. */
export interface Reconciliation extends Reported {
  made: string;
  files: string[];
  formats: string[];
  providers: string[];
  first_day: string;
  last_day: string;
  tolerance_percent: number;
  /** The costliest differences first. */
  models: ReportedModel[];
  unmatched: UnmatchedName[];
}

const MODELS = 200;
const NAMES = 50;

/** A report that is small enough to be kept: of the days only those that differ. */
export function keptReport(report: Reconciliation): Reconciliation {
  const models = report.models.slice(0, MODELS).map((model) => ({
    ...model,
    names: model.names.slice(0, NAMES),
    days: model.days.filter(({ percent }) => percent !== 0).slice(0, NAMES),
  }));
  return { ...report, models, unmatched: report.unmatched.slice(0, NAMES) };
}
