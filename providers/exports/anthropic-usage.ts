import type { ExportFormat } from '../../src/core/provider-export.js';

/**
 * The pages of `GET /v1/organizations/usage_report/messages`, grouped by model, or the CSV of the
 * console.
 */
export const format: ExportFormat = {
  name: 'anthropic-usage',
  manifests: ['anthropic'],
  columns: [
    ['starting_at', 'uncached_input_tokens'],
    ['usage_date_utc', 'usage_input_tokens_no_cache'],
  ],
  classes: ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output'],
  read: (row) => ({
    day: row.day('starting_at', 'usage_date_utc'),
    model: row.text('model', 'model_version'),
    tokens: {
      input: row.count('uncached_input_tokens', 'usage_input_tokens_no_cache'),
      cached_input: row.count('cache_read_input_tokens', 'usage_input_tokens_cache_read'),
      cache_write: row.count(
        'cache_creation_ephemeral_5m_input_tokens',
        'usage_input_tokens_cache_write_5m',
      ),
      cache_write_1h: row.count(
        'cache_creation_ephemeral_1h_input_tokens',
        'usage_input_tokens_cache_write_1h',
      ),
      output: row.count('output_tokens', 'usage_output_tokens'),
    },
  }),
};
