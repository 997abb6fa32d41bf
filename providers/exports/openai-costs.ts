import type { ExportClass, ExportFormat } from '../../src/core/provider-export.js';

const CLASSES: Readonly<Record<string, ExportClass>> = {
  input: 'input',
  'cached input': 'cached_input',
  output: 'output',
  'audio input': 'audio_input',
  'audio output': 'audio_output',
  'image input': 'image_input',
  'image cached input': 'cached_input',
  'image output': 'image_output',
};

/** `gpt-4o-2024-08-06, cached input`, with a tier before it or the length of the prompt behind. */
const LINE_ITEM = /^(?:\w+ \| )?([\w.:/-]+)( audio| text| image)?, ((?:cached )?input|output)\b/iu;

/** The pages of `GET /v1/organization/costs`, grouped by line item or not, or the same as CSV. */
export const format: ExportFormat = {
  name: 'openai-costs',
  manifests: ['openai'],
  columns: [['start_time', 'amount_value']],
  classes: [],
  read(row) {
    const currency = row.text('amount_currency');
    if (!/^(usd)?$/iu.test(currency)) throw row.fault('amount_currency', 'is not usd');
    const item = row.text('line_item');
    const [, model = item, kind = '', side = ''] = LINE_ITEM.exec(item) ?? [];
    const own = kind.trim().toLowerCase().replace('text', '');
    const name = `${own} ${side.toLowerCase()}`.trim();
    const of = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
    return {
      day: row.day('start_time'),
      model,
      cost_nano: row.nano('amount_value'),
      ...(of && { class: of }),
    };
  },
};
