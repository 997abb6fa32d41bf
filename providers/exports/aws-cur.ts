import type { ExportClass, ExportFormat, ExportRow } from '../../src/core/provider-export.js';

const MARKETPLACE = / \(Amazon Bedrock Edition\)$/u;
/** Lines of taxes, credits and fees are no usage. */
const USAGE = /Usage$/u;

/** By what stands in the usage type, without signs: `cache-read-input-token-count`. */
const CLASSES: readonly (readonly [RegExp, ExportClass])[] = [
  [/cachewrite.{0,40}1h/u, 'cache_write_1h'],
  [/cachewrite/u, 'cache_write'],
  [/cacheread/u, 'cached_input'],
  [/outputtoken/u, 'output'],
  [/inputtoken/u, 'input'],
];

/** `USE1-Claude4.6Sonnet-input-tokens`: the region, the model, and the class. */
const MODEL = /^(?:[A-Z]{2,4}\d+-)?(.+?)-(?:mantle-|cache-(?:read|write)-)?(?:input|output)-token/u;
const RESOURCE = /:(?:foundation-model|inference-profile)\/(.+)$/u;

/**
 * AWS's cost and usage report as CSV, in either version of its columns, packed with gzip or not.
 * Models are named by the resource, by the usage type, or by the product of the marketplace.
 */
export const format: ExportFormat = {
  name: 'aws-cur',
  manifests: ['bedrock'],
  columns: [['line_item_usage_start_date', 'line_item_usage_type', 'line_item_unblended_cost']],
  classes: ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output'],
  read(row) {
    const product = row.text('product_product_name', 'product_servicename', 'product');
    const isBedrock = row.text('line_item_product_code') === 'AmazonBedrock';
    if (!isBedrock && !MARKETPLACE.test(product)) return undefined;
    const kind = row.text('line_item_line_item_type');
    if (kind !== '' && !USAGE.test(kind)) return undefined;
    const type = row.text('line_item_usage_type');
    const plain = type.toLowerCase().replaceAll(/[^a-z0-9]/gu, '');
    const of = CLASSES.find(([words]) => words.test(plain))?.[1];
    const resource = RESOURCE.exec(row.text('line_item_resource_id'))?.[1];
    const edition = MARKETPLACE.test(product) ? product.replace(MARKETPLACE, '') : undefined;
    return {
      day: row.day('line_item_usage_start_date'),
      model: resource ?? edition ?? MODEL.exec(type)?.[1] ?? type,
      cost_nano: row.nano('line_item_unblended_cost'),
      ...(of && { class: of, tokens: { [of]: tokensOf(row) } }),
    };
  },
};

/** The marketplace counts millions of tokens, Bedrock itself thousands. */
function tokensOf(row: ExportRow): number {
  const unit = row.text('pricing_unit', 'line_item_line_item_description').toLowerCase();
  const isThousands = /1k|thousand/u.test(unit);
  const billionths = row.nano('line_item_usage_amount');
  const nano_per_unit = isThousands ? 1_000_000n : 1_000n;
  return Number((billionths + nano_per_unit / 2n) / nano_per_unit);
}
