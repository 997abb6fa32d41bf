import type { Command } from 'commander';
import { isScope, SCOPE_NAMES, SCOPES, type Scope } from '../core/scopes.js';
import type { Store } from '../store/store-types.js';
import type { ManagementToken } from '../store/tokens/management-tokens.js';
import { nameHint } from '../yaml/did-you-mean.js';
import { cliActor } from './actor.js';
import { acting, command, group, UsageError } from './command.js';
import { expiryOf } from './key-terms.js';
import { printJson, printLine, formatTime } from './print.js';
import { printRows } from './print-rows.js';
import { withStore } from './store.js';

interface Options {
  config: string;
  json?: boolean;
}

interface CreateOptions extends Options {
  scope: string[];
  expires?: string;
}

/** `tollgate token create NAME --scope SCOPES [--expires 90d] | list | revoke TOKEN_ID` */
export function tokenCommand(): Command {
  const create = command(
    'create',
    'make a token for a program; its secret is shown once, here',
    'tollgate token create shop --scope accounts:write,credit:write --expires 90d',
  )
    .argument('<name>', 'which program it is for')
    .requiredOption('--scope <scopes>', 'what it may do, by commas', gatherScopes)
    .option('--expires <time>', 'refuse it after such a time, as in 12h or 90d')
    .option('--json', 'print {"id","name","secret"}')
    .addHelpText('after', scopeHelp())
    .action(acting(createToken));
  const list = command('list', 'show every token', 'tollgate token list')
    .option('--json', 'print one JSON document')
    .action(acting(listTokens));
  const revoke = command('revoke', 'revoke a token, at once', 'tollgate token revoke mgt_1a2b3c')
    .argument('<token_id>', 'the id that "token list" shows')
    .option('--json', 'print one JSON document')
    .action(acting(revokeToken));
  const parts = [create, list, revoke];
  const about = 'make, list and revoke tokens for programs that manage accounts';
  return group('token', about, 'tollgate token list', parts);
}

function scopeHelp(): string {
  const width = Math.max(...SCOPE_NAMES.map(({ length }) => length));
  const lines = SCOPE_NAMES.map((name) => `  ${name.padEnd(width)}  ${SCOPES[name]}`);
  return `\nScopes:\n${lines.join('\n')}\n`;
}

/** Gathers scopes: the option may be repeated, and each value may hold several, by commas. */
function gatherScopes(value: string, previous: string[] = []): string[] {
  return [...previous, ...value.split(',').map((word) => word.trim())];
}

function scopeOf(word: string): Scope {
  if (isScope(word)) return word;
  throw new UsageError(`there is no scope "${word}"; ${nameHint(word, SCOPE_NAMES)}`);
}

async function createToken(
  name: string,
  { config, scope, expires, json }: CreateOptions,
): Promise<void> {
  const expires_ms = expires === undefined ? {} : { expires_ms: expiryOf(expires) };
  const scopes = scope.map(scopeOf);
  const create = async (store: Store): Promise<void> => {
    const terms = { name, scopes, ...expires_ms };
    const { token, secret } = await store.tokens.create(terms, cliActor());
    if (json) return printJson({ id: token.id, name: token.name, secret });
    printLine(`Made the token ${token.id}. Its secret, shown this once:`);
    printLine(secret);
    printLine(`Its scopes are ${token.scopes.join(', ')}.`);
    if (token.expires_ms !== null) printLine(`It expires at ${formatTime(token.expires_ms)}.`);
  };
  // A program's token may be made before the first start.
  await withStore(config, create, { creates: true });
}

async function listTokens({ config, json }: Options): Promise<void> {
  const tokens = await withStore(config, (store) => store.tokens.list());
  printRows(tokens.map(row), json, 'There is no token yet: make one with "token create".');
}

async function revokeToken(id: string, { config, json }: Options): Promise<void> {
  await withStore(config, async (store) => {
    const revoked = await store.tokens.revoke(id, cliActor());
    const token = revoked ? (await store.tokens.list()).find((one) => one.id === id) : undefined;
    if (!token) {
      throw new UsageError(`there is no active token "${id}"; "tollgate token list" shows all`);
    }
    if (json) return printJson({ id, revoked });
    printLine(`Revoked ${id} (${token.name}): it is refused from now on.`);
  });
}

function row(token: ManagementToken) {
  const { id, name, prefix, scopes } = token;
  return {
    id,
    name,
    prefix,
    scopes,
    created: formatTime(token.created_ms),
    last_used: formatTime(token.last_used_ms),
    expires: formatTime(token.expires_ms),
    revoked: formatTime(token.revoked_ms),
  };
}
