import { isAllowed } from '../../config/allow-list.js';
import type { IdentityProvider } from '../../core/configuration.js';
import { GatewayError } from '../../core/errors.js';
import type { Identity, PendingSignIn } from '../../store/sign-in/sign-in-types.js';
import { readSecret, setCookie } from '../cookies.js';
import { returnTo } from '../return-to.js';
import { seeOther } from '../redirect.js';
import type { DashboardContext, Route } from '../types.js';
import { startSession, type Flow } from './flow.js';
import type { IdentityService } from './identity.js';
import { proofsOf, type Proofs } from './proofs.js';
import { createIdentityService } from './provider.js';
import { refusalOf, startAgain, unavailable, type Refusal } from './refusal.js';

/** How long a person may take at the provider. */
const PENDING_MS = 600_000;

/** The routes to a provider and back from it. */
export function thirdPartyRoutes(flow: Flow, provider: IdentityProvider): Route[] {
  const service = createIdentityService(provider, flow.services.now);
  const party = { flow, provider, service };
  const path = `/sign-in/${provider.name}`;
  return [
    { method: 'GET', path, access: 'optional', answer: (ctx) => begin(party, ctx) },
    {
      method: 'GET',
      path: `${path}/callback`,
      access: 'optional',
      answer: (ctx) => finish(party, ctx),
    },
  ];
}

interface Party {
  flow: Flow;
  provider: IdentityProvider;
  service: IdentityService;
}

async function begin(party: Party, ctx: DashboardContext): Promise<void> {
  const { flow, provider, service } = party;
  const { store, configuration } = flow.services;
  if (ctx.method === 'HEAD') return answerEmpty(ctx);
  await flow.count(ctx.req);
  const { return_to: wanted } = ctx.query;
  const return_to = returnTo(wanted, configuration.public_url);
  const pending: PendingSignIn = { provider: provider.name, return_to };
  const secret = await store.sign_in.beginSignIn(pending, PENDING_MS);
  const address = await service
    .begin(callbackOf(party), proofsOf(secret))
    .catch((error: unknown) => refuse(party, ctx, unavailable(error, service.title)));
  rememberPending(flow, ctx, secret, PENDING_MS);
  seeOther(ctx, address.href);
}

async function finish(party: Party, ctx: DashboardContext): Promise<void> {
  const { flow, provider, service } = party;
  const { store, configuration, log } = flow.services;
  const { credit_nano } = configuration.sign_in;
  if (ctx.method === 'HEAD') return answerEmpty(ctx);
  await flow.count(ctx.req);
  const { identity, return_to } = await identify(party, ctx).catch((error: unknown) =>
    refuse(party, ctx, refusalOf(error, service.title)),
  );
  const { email } = identity;
  const { account, newcomer } = await store.sign_in.signIn(identity, credit_nano);
  await startSession(flow, ctx, {
    account_id: account.id,
    email,
    via: provider.name,
    operator: false,
  });
  const { request_id } = ctx.state;
  log.info({ request_id, provider: provider.name, account: account.id, newcomer }, 'signed in');
  seeOther(ctx, return_to);
}

async function identify(
  party: Party,
  ctx: DashboardContext,
): Promise<{ identity: Identity; return_to: string }> {
  const { proofs, callback, return_to } = await takePending(party, ctx);
  const identity = await party.service.finish(callback, proofs);
  refuseStranger(party, identity);
  return { identity, return_to };
}

/** Takes the pending sign-in of this browser out of the store. Each can be taken once. */
async function takePending(
  party: Party,
  ctx: DashboardContext,
): Promise<{ proofs: Proofs; callback: URL; return_to: string }> {
  const { flow, provider } = party;
  const secret = readSecret(ctx, 'sign_in');
  if (secret === undefined) throw startAgain();
  rememberPending(flow, ctx, '', 0);
  const pending = await flow.services.store.sign_in.finishSignIn(secret);
  const proofs = proofsOf(secret);
  // The callback's origin is that of the file, never of the Host header.
  const callback = new URL(callbackOf(party) + ctx.search);
  if (pending?.provider !== provider.name) throw startAgain();
  return { proofs, callback, return_to: pending.return_to };
}

function refuseStranger({ flow, provider }: Party, { email }: Identity): void {
  const { sign_in } = flow.services.configuration;
  if (isAllowed(email, sign_in.allow)) return;
  // The log shows the address, so that the operator can allow it.
  flow.services.log.warn({ provider: provider.name, email }, 'not let in by sign_in.allow');
  const message = 'Your e-mail address may not sign in here. Ask an operator of this gateway.';
  throw new GatewayError('forbidden', message);
}

function refuse({ flow, provider }: Party, ctx: DashboardContext, refusal: Refusal): never {
  const { request_id } = ctx.state;
  const { public_error, reason } = refusal;
  flow.services.log.warn({ request_id, provider: provider.name, reason }, 'a sign-in failed');
  throw public_error;
}

function callbackOf({ flow, provider }: Party): string {
  return `${flow.services.configuration.public_url}/sign-in/${provider.name}/callback`;
}

function rememberPending(
  { https }: Flow,
  ctx: DashboardContext,
  value: string,
  lifetime_ms: number,
): void {
  setCookie(ctx, https, { name: 'sign_in', value, path: '/sign-in', lifetime_ms });
}

/** Answers HEAD, which must not begin or finish a sign-in. */
function answerEmpty(ctx: DashboardContext): void {
  ctx.status = 204;
}
