import { priceShape } from '../billing/price-shape.js';
import type { Configuration } from '../core/configuration.js';
import { TOKEN_UNIT_FIELDS, type Capability, type Model } from '../core/model.js';
import { listAction, requireGateway } from './action.js';
import { isNumber } from './cursor.js';

/** Each part that is given must fit. */
export interface ModelFilter {
  /** Words that the ID, the owner's name and the description have together, in lower case. */
  q?: string;
  can?: string;
  owner?: string;
}

/** A model with the name of its owner, and its place in the file. */
export interface ListedModel {
  model: Model;
  owner: string;
  at: number;
}

export const listModels = listAction({
  name: 'model list',
  rows: async ({ gateway }, filter: ModelFilter, { limit, after }) => {
    const found = matchingModels(requireGateway(gateway).configuration, filter);
    return found.filter(({ at }) => !isNumber(after) || at > after).slice(0, limit);
  },
  place: { of: ({ at }) => at, is: isNumber },
  shape: ({ model, owner }) => ({
    id: model.id,
    owner,
    capabilities: [...model.capabilities],
    context: model.limits.context ?? null,
    max_tokens: model.limits.max_tokens ?? null,
    free: model.price.free,
    price: priceShape(model.price),
    description: model.description ?? null,
  }),
  csv: {
    file: 'models.csv',
    columns: () => [
      'id',
      'owner',
      'capabilities',
      'context',
      'max_tokens',
      'free',
      ...TOKEN_UNIT_FIELDS.map(([unit]) => `price.${unit}`),
      'price.long_prompt',
      'price.tiers',
      'price.off_peak',
      'price.per_tool_call',
      'price.per_request',
      'price.per_image',
      'price.per_video_second',
      'price.per_million_characters',
      'price.per_audio_minute',
      'description',
    ],
  },
});

/** The models that the filter lets through, in the order of the file. */
export function matchingModels(
  { models, owners }: Configuration,
  { q = '', can = '', owner = '' }: ModelFilter,
): ListedModel[] {
  const words = q.split(/\s+/u).filter(Boolean);
  const all = [...models.values()].map((model, at) => {
    return { model, owner: owners.get(model.owner)?.name ?? model.owner, at };
  });
  return all.filter(({ model, owner: name }) => {
    const text = `${model.id} ${name} ${model.description ?? ''}`.toLowerCase();
    return (
      (can === '' || model.capabilities.has(can as Capability)) &&
      (owner === '' || model.owner === owner) &&
      words.every((word) => text.includes(word))
    );
  });
}
