import type { ExportClass, ExportFormat, ExportRow } from '../../src/core/provider-export.js';

const SERVICES = /vertex ai|gemini|generative language|agent platform/iu;
/** The units in which tokens are counted. Others, such as hours of storage, have no tokens. */
const TOKENS = /^(count|counts|requests|tokens?)$/iu;

/**
 * Rows of the billing export that BigQuery keeps, as CSV, as a list of JSON objects, or one object
 * a line. A column of a record is written with a dot or an underscore. The model stands in the
 * description of the SKU. Costs are those before credits.
 */
export const format: ExportFormat = {
  name: 'google-billing',
  manifests: ['gemini', 'vertex', 'google-compatible', 'veo'],
  columns: [['sku_description', 'usage_start_time', 'cost']],
  classes: ['input', 'cached_input', 'audio_input', 'output'],
  read(row) {
    const service = row.text('service_description');
    if (service !== '' && !SERVICES.test(service)) return undefined;
    const model = row.text('sku_description');
    const of = classOf(model);
    const isTokens = of !== undefined && TOKENS.test(row.text('usage_unit'));
    return {
      day: row.day('usage_start_time'),
      model,
      cost_nano: dollarsOf(row),
      ...(isTokens && { tokens: { [of]: row.count('usage_amount') } }),
      ...(of && { class: of }),
    };
  },
};

function classOf(description: string): ExportClass | undefined {
  if (/storage|grounding|search/iu.test(description)) return undefined;
  if (/output/iu.test(description)) return 'output';
  if (/cach/iu.test(description)) return 'cached_input';
  if (/audio input|input audio/iu.test(description)) return 'audio_input';
  return /input/iu.test(description) ? 'input' : undefined;
}

/** The cost in dollars: the export has the rate at which they were converted. */
function dollarsOf(row: ExportRow): bigint {
  const cost_nano = row.nano('cost');
  if (/^(USD)?$/iu.test(row.text('currency'))) return cost_nano;
  const rate_nano = row.nano('currency_conversion_rate');
  if (rate_nano > 0n) return (cost_nano * 1_000_000_000n) / rate_nano;
  throw row.fault('currency', 'is not USD, and the row has no currency_conversion_rate');
}
