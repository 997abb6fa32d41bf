import type { JSX } from 'preact';
import { editKey } from '../../actions/key-edit.js';
import { rotateKey } from '../../actions/key-rotate.js';
import { liveKey } from '../../actions/key-terms.js';
import { withOwnAllowances } from '../../actions/limit-terms.js';
import type { Limited } from '../../actions/shapes.js';
import { formatDollars } from '../../lib/money.js';
import type { KeyEdit } from '../../schema-types/key-edit.js';
import type { Key } from '../../store/keys/keys.js';
import { actionServices, runAction } from '../action-context.js';
import { seeOther } from '../redirect.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { ActionForm, readActionForm } from './action-form.js';
import { Choice } from './fields.js';
import { faultMessage, formRoutes, textOf } from './form.js';
import { requireSession } from './guard.js';
import { sendPage } from './page.js';
import { Ago, Card, Notice } from './parts.js';
import { ShownOnce } from './shown-once.js';

const PATH = '/settings/keys';
const ABOVE = { path: PATH, name: 'API Keys' };

/** How long the old secret may work after a rotation, in seconds. */
const OVERLAPS = [
  { value: '86400', name: 'For a day' },
  { value: '3600', name: 'For an hour' },
  { value: '604800', name: 'For 7 days' },
  { value: '2592000', name: 'For 30 days' },
  { value: '0', name: 'No more' },
];

/** The pages that change the terms of one of the own keys, and give it a new secret. */
export function editKeyRoutes(services: DashboardServices): Route[] {
  return [...editRoutes(services), ...rotateRoutes(services)];
}

async function ownKey(
  { params: { keyID = '' } }: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
): Promise<Limited<Key>> {
  const { account_id } = requireSession(visitor).session;
  const key = await liveKey(actionServices(services), keyID, account_id);
  return withOwnAllowances(services.store, 'key', key);
}

function editRoutes(services: DashboardServices): Route[] {
  return formRoutes({
    access: 'session',
    page: `${PATH}/:keyID/edit`,
    async show(ctx, visitor, state) {
      const key = await ownKey(ctx, visitor, services);
      const known = services.configuration.models.keys();
      const form = {
        action: editKey,
        path: ctx.path,
        state: state.fault ? state : { values: valuesOf(key) },
        submit: 'Save',
        cancel: PATH,
        models: [...new Set([...known, ...(key.models ?? [])])],
      };
      const body = (
        <Card about={<Expiry of={key} now_ms={services.now()} />}>
          <ActionForm {...form} />
        </Card>
      );
      const page = { title: `Edit “${key.name}”`, above: ABOVE, at: PATH, narrow: true, body };
      sendPage(ctx, visitor, page, state.fault ? 400 : 200);
    },
    async act(ctx, visitor, sent) {
      const { id: key_id, account_id, allowances } = await ownKey(ctx, visitor, services);
      const edit = readActionForm(editKey, sent) as KeyEdit;
      const gone = Object.fromEntries(allowances.map(({ window }) => [window, null]));
      const input = { ...edit, allowances: { ...gone, ...edit.allowances }, key_id, account_id };
      await runAction(editKey, input, ctx, visitor, services);
      seeOther(ctx, `${PATH}?done=edited`);
    },
  });
}

function Expiry({ of, now_ms }: { of: Key; now_ms: number }): JSX.Element {
  if (of.expires_ms === null) return <>It never expires.</>;
  return (
    <>
      It expires <Ago at_ms={of.expires_ms} now_ms={now_ms} />.
    </>
  );
}

/** The terms of a key as its form sends them. */
function valuesOf({ name, models, limit_nano, allowances, rates }: Limited<Key>): URLSearchParams {
  const amounts = allowances.map(
    ({ window, amount_nano }) => `${window}=${formatDollars(amount_nano)}`,
  );
  return new URLSearchParams([
    ['name', name],
    ['limit', limit_nano === null ? '' : formatDollars(limit_nano)],
    ['allowances', amounts.join(' ')],
    ...Object.entries(rates ?? {}).map(([rate, value]) => [`rates.${rate}`, String(value)]),
    ...(models ?? []).map((model) => ['models', model]),
  ]);
}

function rotateRoutes(services: DashboardServices): Route[] {
  return formRoutes({
    access: 'session',
    page: `${PATH}/:keyID/rotate`,
    async show(ctx, visitor, state) {
      const key = await ownKey(ctx, visitor, services);
      const fault = faultMessage(state, 'prefix');
      const body = (
        <Card>
          <form class="stack" method="post" action={ctx.path}>
            {fault !== undefined && <Notice colour="bad">{fault}</Notice>}
            <p>
              The key gets a new secret in place of <code>{key.prefix}…</code>. Its terms stay.
            </p>
            <input type="hidden" name="prefix" value={key.prefix} />
            <Choice label="The old secret works" name="overlap_s" options={OVERLAPS} />
            <div class="row">
              <button class="solid">Rotate key</button>
              <a class="button" href={PATH}>
                Cancel
              </a>
            </div>
          </form>
        </Card>
      );
      const page = { title: `Rotate “${key.name}”?`, above: ABOVE, at: PATH, narrow: true, body };
      sendPage(ctx, visitor, page, state.fault ? 400 : 200);
    },
    async act(ctx, visitor, sent) {
      const { id: key_id, account_id } = await ownKey(ctx, visitor, services);
      const overlap_s = Number(textOf(sent, 'overlap_s'));
      const input = { key_id, account_id, overlap_s, prefix: textOf(sent, 'prefix') };
      const { key, secret } = await runAction(rotateKey, input, ctx, visitor, services);
      const body = (
        <ShownOnce
          notice={
            <Notice colour="warn">
              <strong>Copy it now.</strong> It is not stored and cannot be shown again.
            </Notice>
          }
          title="Secret"
          label="secret"
          text={secret}
          path={PATH}
        />
      );
      const title = `The new secret of “${key.name}”`;
      sendPage(ctx, visitor, { title, above: ABOVE, at: PATH, narrow: true, body }, 201);
    },
  });
}
