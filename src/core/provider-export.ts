/**
 * The classes of tokens that bills tell apart. No token is in two of them: `input` is what no other
 * class of the prompt has.
 */
export const EXPORT_CLASSES = [
  'input',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'audio_input',
  'image_input',
  'output',
  'audio_output',
  'image_output',
] as const;

export type ExportClass = (typeof EXPORT_CLASSES)[number];

/** One line of a provider's export of usage or costs. */
export interface ExportLine {
  /** `YYYY-MM-DD`, of UTC. */
  day: string;
  /**
   * The model as the provider names or describes it, empty for the costs of all together; absent
   * where the line only says that the export covers the day.
   */
  model?: string;
  calls?: number;
  tokens?: Partial<Record<ExportClass, number>>;
  cost_nano?: bigint;
  /** The class that the whole cost is for. */
  class?: ExportClass;
}

/** The cells of one row, by the names of columns in lower case: `amount_value`. */
export interface ExportRow {
  /** Empty where the row has none of the columns, or nothing in them; else the first that has. */
  text(...columns: string[]): string;
  /** Zero where the cell is empty. Throws an error with the cell's place for any other text. */
  count(...columns: string[]): number;
  /** A decimal number, rounded to the ninth digit: dollars as nano-dollars. */
  nano(...columns: string[]): bigint;
  /** A date, a time in ISO 8601, or Unix seconds. */
  day(...columns: string[]): string;
  /** An error with the place of the cell. */
  fault(column: string, message: string): Error;
}

/** A form in which a provider exports usage or costs: one file of `providers/exports/`. */
export interface ExportFormat {
  name: string;
  /** The manifests of the providers whose bills have this form. */
  manifests: readonly string[];
  /** A file is of this form if it has all columns of one of these lists. */
  columns: readonly (readonly string[])[];
  /** The classes that it counts tokens in. Tokens of another class are in the one it is part of. */
  classes: readonly ExportClass[];
  /** Undefined for a row that has nothing to do with models. */
  read(row: ExportRow): ExportLine | undefined;
}

/** Tokens of a class that an export does not tell apart are counted in this one. */
export const PART_OF: Readonly<Partial<Record<ExportClass, ExportClass>>> = {
  cache_write_1h: 'cache_write',
  cache_write: 'input',
  cached_input: 'input',
  audio_input: 'input',
  image_input: 'input',
  audio_output: 'output',
  image_output: 'output',
};

/** The class in which an export with these classes counts tokens of a class. */
export function countedAs(name: ExportClass, classes: readonly ExportClass[]): ExportClass {
  if (classes.includes(name)) return name;
  const whole = PART_OF[name];
  return whole === undefined ? name : countedAs(whole, classes);
}
