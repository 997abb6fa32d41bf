import type { KeyCreation } from '../schema-types/key-creation.js';
import type { Key, KeyTerms } from '../store/keys/keys.js';
import { AccountSuspended, TooManyKeys } from '../store/store-error.js';
import { modelNamed, type Configuration } from '../core/configuration.js';
import { GatewayError } from '../core/errors.js';
import { formatDollars, parseDollars, withDollarSign } from '../lib/money.js';
import {
  ACCOUNT_FIELD,
  asInvalid,
  invalid,
  NAME_CHARACTERS,
  oneAction,
  readName,
} from './action.js';
import { startOf } from './days.js';
import { isoTime, keyShape } from './shapes.js';

interface NewKey extends KeyCreation {
  account_id: string;
  /** The ID of the key. `run` throws `IdTaken` if there is a key of that ID already. */
  id?: string;
}

export const createKey = oneAction({
  name: 'key create',
  schema: 'key-creation',
  fields: {
    account_id: ACCOUNT_FIELD,
    name: {
      typed: '--name <text>',
      about: 'what the key is for',
      type: 'text',
      is_required: true,
      form: {
        label: 'Name',
        hint: 'What it is for, such as the program that will use it.',
        max: NAME_CHARACTERS,
      },
    },
    expires_in_s: {
      typed: '--expires <time>',
      about: 'refuse it after such a time, as in 12h or 30d',
      type: 'lifetime',
      form: { label: 'Expires' },
    },
    models: {
      typed: '--model <model>',
      about: 'let it use this model alone; may be repeated',
      type: 'models',
      form: {
        label: 'Models',
        hint: 'Choose none to allow all models, also models that are added later.',
      },
    },
    limit: {
      typed: '--limit <dollars>',
      about: 'let it spend so much in all',
      type: 'dollars',
      form: {
        label: 'Spending limit, in dollars',
        hint: 'The total that the key may spend. Leave it empty for no limit but your balance.',
        placeholder: '10.00',
      },
    },
  },
  async run({ store, now, gateway }, input: NewKey, { actor }) {
    const name = readName(input.name);
    const max_active = gateway?.configuration.limits.keys;
    const terms = {
      ...termsOf(input, now(), gateway?.configuration),
      ...(max_active !== undefined && { max_active }),
      ...(input.id !== undefined && { id: input.id }),
    };
    return asInvalid('name', async () => {
      try {
        return await store.createKey(input.account_id, name, terms, actor);
      } catch (error) {
        throw refusal(error, max_active);
      }
    });
  },
  routes: [
    {
      method: 'POST',
      path: '/api/keys',
      id: 'createKey',
      summary: 'Create a key; only this answer has its secret',
      status: 201,
      answer: 'NewKey',
    },
    {
      method: 'POST',
      path: '/api/accounts/:accountID/keys',
      scope: 'keys:write',
      id: 'createAccountKey',
      summary: 'Create a key for an account; only this answer has its secret',
      status: 201,
      answer: 'NewKey',
    },
  ],
  answer: ({ key, secret }) => ({ ...keyShape(key), secret }),
  command: {
    about: 'make an API key; its secret is shown once, here',
    example: 'tollgate key create alice --name laptop',
    json: 'print {"id","name","secret"}',
    document: ({ key: { id, name }, secret }) => ({ id, name, secret }),
    lines: ({ key, secret }, { account }) => [
      `Made the key ${key.id} for ${account?.name}. Its secret, shown this once:`,
      secret,
      ...termSentences(key),
    ],
  },
});

/** The error of the API where the account gets no key; any other error as it is. */
function refusal(error: unknown, max_active: number | undefined): unknown {
  if (error instanceof AccountSuspended) {
    return new GatewayError('account_suspended', error.message, { cause: error });
  }
  if (!(error instanceof TooManyKeys)) return error;
  const message = `An account has at most ${max_active} active keys: revoke one first.`;
  return new GatewayError('invalid_request', message, { cause: error });
}

function termsOf(
  input: KeyCreation,
  now_ms: number,
  configuration: Configuration | undefined,
): KeyTerms {
  const terms: KeyTerms = {};
  const expires_ms = expiryOf(input, now_ms);
  if (expires_ms !== undefined) terms.expires_ms = expires_ms;
  if (input.models) {
    refuseUnknown(input.models, configuration);
    terms.models = input.models;
  }
  if (input.limit !== undefined) {
    terms.limit_nano = parseDollars(input.limit);
    if (terms.limit_nano <= 0n) throw invalid('limit', 'limit must be above zero.');
  }
  return terms;
}

/** Throws `GatewayError` for a model that the configuration in use does not have. */
function refuseUnknown(ids: readonly string[], configuration: Configuration | undefined): void {
  const at = configuration ? ids.findIndex((id) => !modelNamed(configuration, id)) : -1;
  if (at < 0) return;
  const param = `models[${at}]`;
  const message = `${param} is not a model of this gateway.`;
  throw new GatewayError('model_not_found', message, { param });
}

function expiryOf({ expires, expires_in_s }: KeyCreation, now_ms: number): number | undefined {
  if (expires_in_s !== undefined) {
    if (expires === undefined) return now_ms + Math.round(expires_in_s * 1_000);
    throw invalid('expires', 'Send either expires or expires_in_s, not both.');
  }
  if (expires === undefined) return undefined;
  const expires_ms = Date.parse(expires);
  if (Number.isNaN(expires_ms) || startOf(expires.slice(0, 10)) === undefined) {
    throw invalid('expires', 'expires must be a time such as 2026-12-31T23:59:59Z.');
  }
  if (expires_ms <= now_ms) throw invalid('expires', 'expires must be later than now.');
  return expires_ms;
}

/** One sentence for each term that the key has. */
function termSentences({ expires_ms, models, limit_nano }: Key): string[] {
  const sentences: string[] = [];
  if (expires_ms !== null) sentences.push(`It expires at ${isoTime(expires_ms)}.`);
  if (models) sentences.push(`It may use ${models.join(', ')} alone.`);
  if (limit_nano !== null) {
    sentences.push(`It may spend ${withDollarSign(formatDollars(limit_nano))} in all.`);
  }
  return sentences;
}
