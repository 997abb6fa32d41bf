import type { ExportClass, ExportFormat, ExportRow } from '../../src/core/provider-export.js';

/** What the category, its part or the product says of a model's meter. */
const MODELS = /openai|foundry|\bmodels\b/iu;
const SIDE = /^(?:inp|out)\w*$/iu;
const CACHED = /^(?:cached|cchd|cd)$/iu;
const AUDIO = /^(?:aud|audio)$/iu;
const TEXT = /^(?:txt|text)$/iu;
/** The months of a date stand first here: `10/31/2026`. */
const DATE = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/u;

/**
 * The cost details that Azure's Cost Management exports as CSV, for any kind of account. The model
 * and the class stand in the name of the meter. Quantities are left out: their unit differs by the
 * kind of account.
 */
export const format: ExportFormat = {
  name: 'azure-costs',
  manifests: ['azure'],
  columns: [
    ['date', 'meter_category', 'meter_name', 'cost_in_billing_currency'],
    ['date', 'meter_category', 'meter_name', 'cost_in_usd'],
  ],
  classes: [],
  read(row) {
    const of_meter = ['meter_category', 'meter_sub_category', 'meter_subcategory', 'product_name'];
    if (!of_meter.some((column) => MODELS.test(row.text(column)))) return undefined;
    // Purchases, refunds and taxes are no usage.
    if (!/^(?:usage)?$/iu.test(row.text('charge_type'))) return undefined;
    const { model, of } = meterOf(row.text('meter_name'));
    return {
      day: dayOf(row),
      model: model.toLowerCase(),
      cost_nano: dollarsOf(row),
      ...(of && { class: of }),
    };
  },
};

/** `gpt-4o-mini-0718-Inp-glbl Tokens`, `gpt 4.1 cached Inp glbl Tokens`: a model, then a class. */
function meterOf(name: string): { model: string; of?: ExportClass } {
  const words = name.split(/[ -]/u);
  const side = words.findIndex((word, at) => at > 0 && SIDE.test(word));
  if (side < 0) return { model: words.join('-') };
  let end = side;
  while (end > 1 && isOfClass(words[end - 1] ?? '')) end -= 1;
  return { model: words.slice(0, end).join('-'), of: classOf(words[side] ?? '', words) };
}

function isOfClass(word: string): boolean {
  return CACHED.test(word) || AUDIO.test(word) || TEXT.test(word);
}

function classOf(side: string, words: readonly string[]): ExportClass {
  const isAudio = words.some((word) => AUDIO.test(word));
  if (/^out/iu.test(side)) return isAudio ? 'audio_output' : 'output';
  if (words.some((word) => CACHED.test(word))) return 'cached_input';
  return isAudio ? 'audio_input' : 'input';
}

function dayOf(row: ExportRow): string {
  const [, month = '', day = '', year] = DATE.exec(row.text('date')) ?? [];
  if (year === undefined) return row.day('date');
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  if (Number.isNaN(Date.parse(text))) throw row.fault('date', 'is no date, such as 10/31/2026');
  return text;
}

/** Some kinds of accounts have the cost in dollars beside that in the currency of the invoice. */
function dollarsOf(row: ExportRow): bigint {
  if (row.text('cost_in_usd') !== '') return row.nano('cost_in_usd');
  const currencies = ['billing_currency', 'billing_currency_code'];
  if (/^(?:USD)?$/iu.test(row.text(...currencies))) return row.nano('cost_in_billing_currency');
  const column = currencies.find((one) => row.text(one) !== '') ?? '';
  throw row.fault(column, 'is not USD, and the row has no cost_in_usd');
}
