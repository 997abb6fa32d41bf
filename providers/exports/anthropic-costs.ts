import type { ExportClass, ExportFormat } from '../../src/core/provider-export.js';

/** By the token types of the API. The CSV has the same words. */
const CLASSES: readonly (readonly [RegExp, ExportClass])[] = [
  [/1h/u, 'cache_write_1h'],
  [/5m|cache_?(write|creation)/u, 'cache_write'],
  [/cache_?read/u, 'cached_input'],
  [/output/u, 'output'],
  [/input/u, 'input'],
];

/**
 * The pages of `GET /v1/organizations/cost_report`, whose amounts are in cents, grouped by
 * description or not, or the CSV of the console, which has dollars.
 */
export const format: ExportFormat = {
  name: 'anthropic-costs',
  manifests: ['anthropic'],
  columns: [
    ['starting_at', 'amount', 'currency'],
    ['usage_date_utc', 'cost_usd'],
  ],
  classes: [],
  read(row) {
    const type = row.text('token_type');
    const of = CLASSES.find(([words]) => words.test(type))?.[1];
    if (!/^(USD)?$/iu.test(row.text('currency'))) throw row.fault('currency', 'is not USD');
    const cents = row.text('amount') !== '';
    return {
      day: row.day('starting_at', 'usage_date_utc'),
      model: row.text('model') || row.text('description', 'cost_type'),
      cost_nano: cents ? row.nano('amount') / 100n : row.nano('cost_usd'),
      ...(of && { class: of }),
    };
  },
};
