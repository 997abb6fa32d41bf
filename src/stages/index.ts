import type { Stage } from '../pipeline/stage.js';
import { auth } from './auth.js';
import { balance } from './balance.js';
import { meter } from './meter.js';
import { models } from './models.js';
import { picture } from './hosted-image.js';
import { route } from './route.js';
import { transform } from './transform.js';
import { validate } from './validate.js';

/** The stages that are built in, by the word that gateway.yaml uses. */
export const STAGES: ReadonlyMap<string, Stage> = new Map(
  [auth, validate, route, balance, transform, meter, models, picture].map((stage) => [
    stage.name,
    stage,
  ]),
);
