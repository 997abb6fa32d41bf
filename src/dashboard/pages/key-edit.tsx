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
import { seeDone } from '../redirect.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { ActionForm, readActionForm } from './action-form.js';
import { Choice } from './fields.js';
import { faultMessage, formRoutes, textOf } from './form.js';
import { changedAllowances, limitValues } from './limits.js';
import { sendPage } from './page.js';
import { Ago, Card, Notice } from './parts.js';
import { ShownOnce } from './shown-once.js';

/** How long the old secret may work after a rotation, in seconds. */
const OVERLAPS = [
  { value: '86400', name: 'For a day' },
  { value: '3600', name: 'For an hour' },
  { value: '604800', name: 'For 7 days' },
  { value: '2592000', name: 'For 30 days' },
  { value: '0', name: 'No more' },
];

/** The keys that pages change. */
interface EditedKeys {
  access: 'session' | 'operator';
  /** The pages are below this path, and the ID of a key. */
  path: string;
  /** The entry of the menu. */
  at: string;
  /** The account that has the keys, and the page that lists them. */
  find(
    this: void,
    ctx: DashboardContext,
    visitor: Visitor | undefined,
  ): Promise<{ account_id: string; above: { path: string; name: string } }>;
}

/** The pages that change the terms of a key, and give it a new secret. */
export function editKeyRoutes(services: DashboardServices, keys: EditedKeys): Route[] {
  return [...editRoutes(services, keys), ...rotateRoutes(services, keys)];
}

async function findKey(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  services: DashboardServices,
  { find }: EditedKeys,
): Promise<{ key: Limited<Key>; above: { path: string; name: string } }> {
  const { account_id, above } = await find(ctx, visitor);
  const key = await liveKey(actionServices(services), ctx.params.keyID ?? '', account_id);
  return { key: await withOwnAllowances(services.store, 'key', key), above };
}

function editRoutes(services: DashboardServices, keys: EditedKeys): Route[] {
  const { access, path, at } = keys;
  return formRoutes({
    access,
    page: `${path}/:keyID/edit`,
    async show(ctx, visitor, state) {
      const { key, above } = await findKey(ctx, visitor, services, keys);
      const known = services.configuration.models.keys();
      const form = {
        action: editKey,
        path: ctx.path,
        state: state.fault ? state : { values: valuesOf(key) },
        submit: 'Save',
        cancel: above.path,
        models: [...new Set([...known, ...(key.models ?? [])])],
      };
      const body = (
        <Card about={<Expiry of={key} now_ms={services.now()} />}>
          <ActionForm {...form} />
        </Card>
      );
      const page = { title: `Edit “${key.name}”`, above, at, narrow: true, body };
      sendPage(ctx, visitor, page, state.fault ? 400 : 200);
    },
    async act(ctx, visitor, sent) {
      const { key, above } = await findKey(ctx, visitor, services, keys);
      const { id: key_id, account_id } = key;
      const edit = readActionForm(editKey, sent, services.now()) as KeyEdit;
      const allowances = changedAllowances(key, edit.allowances);
      await runAction(editKey, { ...edit, allowances, key_id, account_id }, ctx, visitor, services);
      seeDone(ctx, above.path, 'edited');
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
function valuesOf(key: Limited<Key>): URLSearchParams {
  const { name, models, limit_nano } = key;
  return new URLSearchParams([
    ['name', name],
    ['limit', limit_nano === null ? '' : formatDollars(limit_nano)],
    ...limitValues(key),
    ...(models ?? []).map((model) => ['models', model]),
  ]);
}

function rotateRoutes(services: DashboardServices, keys: EditedKeys): Route[] {
  const { access, path, at } = keys;
  return formRoutes({
    access,
    page: `${path}/:keyID/rotate`,
    async show(ctx, visitor, state) {
      const { key, above } = await findKey(ctx, visitor, services, keys);
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
              <a class="button" href={above.path}>
                Cancel
              </a>
            </div>
          </form>
        </Card>
      );
      const page = { title: `Rotate “${key.name}”?`, above, at, narrow: true, body };
      sendPage(ctx, visitor, page, state.fault ? 400 : 200);
    },
    async act(ctx, visitor, sent) {
      const { key: before, above } = await findKey(ctx, visitor, services, keys);
      const { id: key_id, account_id } = before;
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
          path={above.path}
        />
      );
      const title = `The new secret of “${key.name}”`;
      sendPage(ctx, visitor, { title, above, at, narrow: true, body }, 201);
    },
  });
}
