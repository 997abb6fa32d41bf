import type { Modalities } from '../pipeline/modality.js';
import type { Stage } from '../pipeline/stage.js';
import { auth } from './auth.js';
import { balance } from './balance.js';
import { deny } from './deny.js';
import { limit } from './limit.js';
import { mask } from './mask.js';
import { meter } from './meter.js';
import { model } from './model.js';
import { models } from './models.js';
import { hostedImage } from './hosted-image.js';
import { route } from './route.js';
import { transform } from './transform.js';
import { validate } from './validate.js';

/** The built-in stages by name, as gateway.yaml writes it. */
export function builtInStages(modalities: Modalities): ReadonlyMap<string, Stage> {
  const stages = [
    auth(modalities),
    validate(modalities),
    mask,
    deny,
    route(modalities),
    limit(modalities),
    balance,
    transform(modalities),
    meter,
    models(modalities),
    model(modalities),
    hostedImage,
  ];
  return new Map(stages.map((stage) => [stage.name, stage]));
}
