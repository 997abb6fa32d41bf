import { isScope, SCOPE_NAMES, SCOPES, type Scope } from '../core/scopes.js';
import type { TokenCreation } from '../schema-types/token-creation.js';
import { asInvalid, invalid, NAME_CHARACTERS, oneAction, readName } from './action.js';
import { isoTime } from './shapes.js';

interface NewToken extends TokenCreation {
  /** The ID of the token. `run` throws `IdTaken` if there is a token of that ID already. */
  id?: string;
}

export const createToken = oneAction({
  name: 'token create',
  schema: 'token-creation',
  fields: {
    name: {
      typed: '<name>',
      about: 'which program it is for',
      type: 'text',
      form: {
        label: 'Name',
        hint: 'The program that will use it; the audit log names its changes by it.',
        max: NAME_CHARACTERS,
      },
    },
    scopes: {
      typed: '--scope <scopes>',
      about: 'what it may do, by commas',
      type: 'scopes',
      form: { label: 'Scopes', hint: 'What the program may do. No scope implies another.' },
      is_required: true,
    },
    expires_in_s: {
      typed: '--expires <time>',
      about: 'refuse it after such a time, as in 12h or 90d',
      type: 'lifetime',
      form: { label: 'Expires' },
    },
  },
  async run({ store, now }, { name: typed, scopes: words, expires_in_s, id }: NewToken, { actor }) {
    const scopes = words.map(scopeNamed);
    if (scopes.length === 0) throw invalid('scopes', 'Choose at least one scope.');
    const token = {
      name: readName(typed),
      scopes,
      ...(expires_in_s !== undefined && { expires_ms: now() + Math.round(expires_in_s * 1_000) }),
      ...(id !== undefined && { id }),
    };
    return asInvalid('name', () => store.tokens.create(token, actor));
  },
  command: {
    about: 'make a token for a program; its secret is shown once, here',
    example: 'tollgate token create shop --scope accounts:write,credit:write --expires 90d',
    details: scopeHelp(),
    json: 'print {"id","name","secret"}',
    creates: true,
    document: ({ token: { id, name }, secret }) => ({ id, name, secret }),
    lines: ({ token: { id, scopes, expires_ms }, secret }) => [
      `Made the token ${id}. Its secret, shown this once:`,
      secret,
      `Its scopes are ${scopes.join(', ')}.`,
      ...(expires_ms === null ? [] : [`It expires at ${isoTime(expires_ms)}.`]),
    ],
  },
});

function scopeNamed(word: string): Scope {
  if (isScope(word)) return word;
  throw invalid('scopes', `There is no scope "${word}".`);
}

function scopeHelp(): string {
  const width = Math.max(...SCOPE_NAMES.map(({ length }) => length));
  const lines = SCOPE_NAMES.map((name) => `  ${name.padEnd(width)}  ${SCOPES[name]}`);
  return `\nScopes:\n${lines.join('\n')}\n`;
}
