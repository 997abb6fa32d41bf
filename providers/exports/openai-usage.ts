import type { ExportFormat } from '../../src/core/provider-export.js';

/**
 * The pages of `GET /v1/organization/usage/completions` and its siblings, grouped by model, or the
 * same columns as CSV. Text is counted with what was read from caches.
 */
export const format: ExportFormat = {
  name: 'openai-usage',
  manifests: ['openai'],
  columns: [['start_time', 'input_tokens', 'num_model_requests']],
  classes: ['input', 'cached_input', 'audio_input', 'output', 'audio_output'],
  read(row) {
    const cached_input = row.count('input_cached_tokens');
    const audio_input = row.count('input_audio_tokens');
    const audio_output = row.count('output_audio_tokens');
    // Pages that count text by itself count all kinds in `input_tokens`.
    const counts_text = row.text('input_text_tokens') !== '';
    const input = row.count('input_tokens') - cached_input - (counts_text ? audio_input : 0);
    const output = row.count('output_tokens') - (counts_text ? audio_output : 0);
    return {
      day: row.day('start_time'),
      model: row.text('model'),
      calls: row.count('num_model_requests'),
      tokens: { input, cached_input, audio_input, output, audio_output },
    };
  },
};
