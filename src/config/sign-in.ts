import { lowerAddress } from './allow-list.js';
import type { SignInBlock } from '../schema-types/gateway.js';
import { readIdentityProvider } from './identity-provider.js';
import { isMisspelt } from '../yaml/misspelt.js';
import type { Source } from '../yaml/source.js';
import type { IdentityProvider, SignIn } from '../core/configuration.js';
import { readDuration } from '../yaml/units.js';
import type { PartialLoad } from '../yaml/validate.js';
import { readDollars } from '../yaml/dollars.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No timer measures these times, so they may be longer than a timer can run. */
const IDLE = { default: 12 * HOUR_MS, min: 60_000, max: 365 * DAY_MS };
const LIFETIME = { default: 30 * DAY_MS, min: 60_000, max: 365 * DAY_MS };

/** Reads `sign_in:`. Without providers, the only way to sign in is a link of the command line. */
export function readSignIn(source: Source, block: PartialLoad<SignInBlock>): SignIn {
  const allow = listed(block.allow);
  const operators = listed(block.operators);
  const { idle, lifetime } = block.session ?? {};
  const providers = readProviders(source, block);
  checkAllow(source);
  const session = {
    idle_ms: readDuration(source, '/sign_in/session/idle', idle, IDLE),
    lifetime_ms: readDuration(source, '/sign_in/session/lifetime', lifetime, LIFETIME),
  };
  return {
    providers,
    allow,
    operators,
    credit_nano: block.credit === undefined ? 0n : readDollars(source, '/sign_in/credit'),
    session,
  };
}

function listed(words: readonly (string | undefined)[] = []): string[] {
  return words.flatMap((word) => (word === undefined ? [] : [lowerAddress(word)]));
}

function readProviders(
  source: Source,
  block: PartialLoad<SignInBlock>,
): Map<string, IdentityProvider> {
  const read = Object.entries(block.providers ?? {}).flatMap(([name, entry]) => {
    const provider = entry && readIdentityProvider(source, name, entry);
    return provider ? [[name, provider] as const] : [];
  });
  return new Map(read);
}

/** `allow` must be written out, `'*'` for everybody too. */
function checkAllow(source: Source): void {
  const declared = (source.keys('/sign_in/providers') ?? []).length > 0;
  const written = source.has('/sign_in/allow') || isMisspelt(source, '/sign_in', 'allow');
  if (declared && !written) {
    const message = '"sign_in" is missing the key "allow": who may come in';
    const hint = "add it, such as allow: ['@example.org', ada@example.com], or ['*'] for everybody";
    source.fault('/sign_in', { code: 'missing_key', message, hint, at: 'key' });
  }
}
