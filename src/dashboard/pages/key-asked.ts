import { Ajv2020 } from 'ajv/dist/2020.js';
import { checking, readShippedSchema } from '../../request/schemas.js';
import type { KeyCreation } from '../../schema-types/key-creation.js';

const check = checking(new Ajv2020({ verbose: true }).compile(readShippedSchema('key-creation')));

/** The form of a new key, held to the same schema as the body of `POST /api/keys`. */
export function keyAskedFor(form: URLSearchParams): KeyCreation {
  const limit = (form.get('limit') ?? '').trim().replace(/^\$/u, '');
  const models = form.getAll('models');
  const asked: Record<string, unknown> = { name: (form.get('name') ?? '').trim() };
  if (form.get('expires_in_s')) asked['expires_in_s'] = Number(form.get('expires_in_s'));
  if (models.length > 0) asked['models'] = models;
  if (limit !== '') asked['limit'] = limit;
  check(asked);
  return asked as unknown as KeyCreation;
}
