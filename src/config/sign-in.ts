import { isAllowed, lowerAddress } from './allow-list.js';
import type { SignInBlock } from '../schema-types/gateway.js';
import { readIdentityProvider } from './identity-provider.js';
import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { IdentityProvider, SignIn } from '../core/configuration.js';
import { readDuration } from '../yaml/units.js';
import { nearestWord } from '../yaml/did-you-mean.js';
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
  checkAllow(source, block, allow);
  checkOperators(source, block.operators ?? [], allow);
  const session = {
    idle_ms: readDuration(source, '/sign_in/session/idle', idle, IDLE),
    lifetime_ms: readDuration(source, '/sign_in/session/lifetime', lifetime, LIFETIME),
  };
  checkSession(source, session);
  return {
    providers,
    allow,
    operators,
    credit_nano: block.credit === undefined ? 0n : readDollars(source, '/sign_in/credit'),
    session,
  };
}

/** Warns of a time without use that is longer than the session lasts. */
function checkSession(source: Source, { idle_ms, lifetime_ms }: SignIn['session']): void {
  const place = '/sign_in/session/idle';
  const lifetime = '/sign_in/session/lifetime';
  if (idle_ms <= lifetime_ms || !source.has(place)) return;
  const all = source.has(lifetime) ? source.word(lifetime) : '"30d"';
  source.fault(place, {
    code: 'unreached_timeout',
    message: `session.idle: ${source.word(place)} is never reached: lifetime is ${all}`,
    hint: 'write a shorter idle, or a longer lifetime',
    severity: 'warning',
  });
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

/** More dollars are hardly meant for everybody who signs in. */
const MUCH_CREDIT = 1_000;

/** Hosts of mail where anybody gets an address, and any number of them. */
const FREE_MAIL =
  'gmail|googlemail|outlook|hotmail|live|yahoo|icloud|aol|proton|protonmail|gmx|web|qq';
const MAIL_FOR_ALL = new RegExp(`^@(?:${FREE_MAIL})\\.(?:com|me|net|de|at|fr|co\\.uk)$`, 'i');

/** `allow` must be written out, `'*'` for everybody too. Credit for everybody is a warning. */
function checkAllow(
  source: Source,
  block: PartialLoad<SignInBlock>,
  allow: readonly string[],
): void {
  const declared = (source.keys('/sign_in/providers') ?? []).length > 0;
  const written = source.has('/sign_in/allow') || source.hasMisspelled('/sign_in', 'allow');
  if (declared && !written) {
    const message = '"sign_in" is missing the key "allow": who may come in';
    const hint = "add it, such as allow: ['@example.org', ada@example.com], or ['*'] for everybody";
    source.fault('/sign_in', { code: 'missing_key', message, hint, at: 'key' });
  }
  if (Number(block.credit ?? 0) > MUCH_CREDIT) {
    source.fault('/sign_in/credit', {
      code: 'much_credit',
      severity: 'warning',
      message: `credit: each newcomer gets ${source.word('/sign_in/credit')} dollars`,
      hint: 'write what a newcomer may spend, such as 1.00',
    });
    return;
  }
  const at = allow.findIndex((one) => one === '*' || MAIL_FOR_ALL.test(one));
  const open = allow[at];
  if (open === undefined || Number(block.credit ?? 0) === 0) return;
  const credit = source.word('/sign_in/credit');
  const isAll = open === '*';
  const why = isAll ? '"*" lets everybody in' : `anybody can get an address ${quote(open)}`;
  const right = isAll
    ? "list the domain of your people, such as '@example.org'"
    : `list the addresses of your people, such as ada${open}`;
  const all = source.valueAt('/sign_in/allow');
  // An entry that cannot be read shifts the places of the others.
  const isWhole = Array.isArray(all) && all.length === allow.length;
  source.fault(isWhole ? `/sign_in/allow${join(at)}` : '/sign_in/credit', {
    code: 'open_credit',
    severity: 'warning',
    message: `allow: ${why}, and each gets the credit of ${credit}`,
    hint: `${right}, or leave the credit out`,
  });
}

function checkOperators(
  source: Source,
  operators: readonly (string | undefined)[],
  allow: readonly string[],
): void {
  // Quotes that are none have a fault of their own.
  if (allow.length === 0 || allow.some((one) => /[“”„‘’]/.test(one))) return;
  // One that cannot be read may be the one that lets them in.
  const written = source.valueAt('/sign_in/allow');
  if (Array.isArray(written) && written.length !== allow.length) return;
  operators.forEach((email, i) => {
    if (email === undefined || isAllowed(email, allow)) return;
    const place = `/sign_in/operators${join(i)}`;
    const message = `operators: ${source.word(place)} is not let in by "allow"`;
    const domain = email.slice(email.lastIndexOf('@'));
    const near = nearestWord(
      domain,
      allow.filter((one) => one.startsWith('@')),
    );
    const meant = nearestWord(
      email,
      allow.filter((one) => !one.startsWith('@')),
    );
    const right = meant ?? (near && email.replace(domain, near));
    const isHidden = right === undefined || source.hides(place);
    const add = 'add the address to allow';
    const hint = isHidden ? add : `did you mean ${quote(right)}? else ${add}`;
    source.fault(place, { code: 'operator_shut_out', severity: 'warning', message, hint });
  });
}
