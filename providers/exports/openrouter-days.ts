import type { ExportFormat } from '../../src/core/provider-export.js';

/** The answer of `GET /api/v1/activity`: days, which do not tell caches apart. */
export const format: ExportFormat = {
  name: 'openrouter-days',
  manifests: ['openrouter'],
  columns: [['date', 'model', 'usage', 'prompt_tokens', 'completion_tokens']],
  classes: ['input', 'output'],
  read: (row) => ({
    day: row.day('date'),
    model: row.text('model_permaslug', 'model'),
    calls: row.count('requests'),
    tokens: { input: row.count('prompt_tokens'), output: row.count('completion_tokens') },
    cost_nano: row.nano('usage'),
  }),
};
