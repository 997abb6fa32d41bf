import type { ExportClass, ExportFormat, ExportRow } from '../../src/core/provider-export.js';

/** What the category, its part or the product says of a model's meter. */
const MODELS = /openai|foundry|\bmodels\b/iu;
/** `gpt-4o-mini-0718-Inp-glbl Tokens`, `gpt 4.1 cached Inp glbl Tokens`: the model, and a side. */
const METER = /^(.+?)[ -](?:(?:cached|cchd|cd|aud|audio|txt|text)[ -])*(inp\w*|out\w*)(?:[ -]|$)/iu;
const CACHED = /[ -](?:cached|cchd|cd)[ -]/iu;
const AUDIO = /[ -](?:aud|audio)[ -]/iu;
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
    const meter = row.text('meter_name');
    const [, model = meter, side] = METER.exec(meter) ?? [];
    const of = side === undefined ? undefined : classOf(meter, side);
    return {
      day: dayOf(row),
      model: model.replaceAll(' ', '-').toLowerCase(),
      cost_nano: dollarsOf(row),
      ...(of && { class: of }),
    };
  },
};

function classOf(meter: string, side: string): ExportClass {
  const isAudio = AUDIO.test(meter);
  if (/^out/iu.test(side)) return isAudio ? 'audio_output' : 'output';
  if (CACHED.test(meter)) return 'cached_input';
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
