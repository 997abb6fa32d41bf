import type { ExportFormat } from '../../src/core/provider-export.js';

/** The CSV of the page Activity, a row for each call. Reasoning is part of the completion. */
export const format: ExportFormat = {
  name: 'openrouter-activity',
  manifests: ['openrouter'],
  columns: [['created_at', 'model_permaslug', 'tokens_prompt', 'cost_total']],
  classes: ['input', 'cached_input', 'output'],
  read(row) {
    const cached_input = row.count('tokens_cached');
    return {
      day: row.day('created_at'),
      model: row.text('model_permaslug'),
      calls: 1,
      tokens: {
        input: row.count('tokens_prompt') - cached_input,
        cached_input,
        output: row.count('tokens_completion'),
      },
      cost_nano: row.nano('cost_total'),
    };
  },
};
