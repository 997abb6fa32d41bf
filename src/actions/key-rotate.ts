import type { KeyRotation } from '../schema-types/key-rotation.js';
import { GatewayError } from '../core/errors.js';
import { AccountSuspended } from '../store/store-error.js';
import { asInvalid, oneAction } from './action.js';
import { liveKey, noKey } from './key-terms.js';
import { withOwnAllowances } from './limit-terms.js';
import { isoTime, keyShape } from './shapes.js';

interface Rotating extends KeyRotation {
  key_id: string;
  account_id?: string;
}

export const rotateKey = oneAction({
  name: 'key rotate',
  schema: 'key-rotation',
  fields: {
    key_id: { typed: '<key_id>', about: 'the id that "key list" shows', type: 'text' },
    overlap_s: {
      typed: '--overlap <time>',
      about: 'let the old secret work for such a time, as in 24h',
      type: 'lifetime',
      form: { label: 'The old secret works' },
    },
  },
  async run(services, { key_id, account_id, overlap_s = 0, prefix }: Rotating, { actor }) {
    const { store } = services;
    await liveKey(services, key_id, account_id);
    const rotation = {
      overlap_ms: Math.round(overlap_s * 1_000),
      ...(prefix !== undefined && { prefix }),
    };
    const made = await asInvalid(prefix === undefined ? 'overlap_s' : 'prefix', async () => {
      try {
        return await store.rotateKey(key_id, rotation, actor);
      } catch (error) {
        if (!(error instanceof AccountSuspended)) throw error;
        throw new GatewayError('account_suspended', error.message, { cause: error });
      }
    });
    if (!made) throw noKey(key_id);
    const { key, secret } = made;
    return { key: await withOwnAllowances(store, 'key', key), secret, is_overlap: overlap_s > 0 };
  },
  routes: [
    {
      method: 'POST',
      path: '/api/keys/:keyID/rotate',
      id: 'rotateKey',
      summary: 'Give a key a new secret, which only this answer has; the old one works for a while',
      status: 200,
      answer: 'NewKey',
    },
    {
      method: 'POST',
      path: '/api/accounts/:accountID/keys/:keyID/rotate',
      scope: 'keys:write',
      id: 'rotateAccountKey',
      summary: 'Give a key a new secret, which only this answer has; the old one works for a while',
      status: 200,
      answer: 'NewKey',
    },
  ],
  answer: ({ key, secret }) => ({ ...keyShape(key), secret }),
  command: {
    about: 'give an API key a new secret, which is shown once, here',
    example: 'tollgate key rotate key_1a2b3c --overlap 24h',
    json: 'print {"id","secret"}',
    details: '\nWithout --overlap, the old secret is refused at once.',
    document: ({ key: { id }, secret }) => ({ id, secret }),
    lines: ({ key: { id, name, previous_until_ms }, secret, is_overlap }) => [
      `Rotated ${id} (${name}). Its new secret, shown this once:`,
      secret,
      is_overlap
        ? `The old secret works until ${isoTime(previous_until_ms)}.`
        : 'The old secret is refused from now on.',
    ],
  },
});
