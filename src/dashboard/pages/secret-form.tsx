import type { ComponentChildren, JSX } from 'preact';
import type { OneAction } from '../../actions/action.js';
import { IdTaken } from '../../store/store-error.js';
import { runAction } from '../action-context.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { formId } from '../views/form-id.js';
import { ActionForm, readActionForm } from './action-form.js';
import { formRoutes, textOf } from './form.js';
import { requireSession } from './guard.js';
import { sendPage } from './page.js';
import { Card, Notice } from './parts.js';
import { ShownOnce } from './shown-once.js';

/** The page that shows a secret. */
interface SecretPage {
  title: string;
  about: string;
  hint: string;
  /** Further cards, which say how to use it. */
  use: ComponentChildren;
}

/** A form that makes a key or a token. */
interface SecretForm<Input extends object, Result extends { secret: string }> {
  noun: 'key' | 'token';
  prefix: 'key_' | 'mgt_';
  /** The title of the page with the form, and the text of its button. */
  title: string;
  submit: string;
  access: 'session' | 'operator';
  /** The page that lists them; the form is below its path, and is sent to it. */
  above: { path: string; name: string };
  action: OneAction<Input & { id?: string }, Result>;
  /** Fields of the input that are not in the form. */
  more?: (visitor: Visitor) => object;
  models?: readonly string[];
  shown(this: void, result: Result): SecretPage;
}

/**
 * The routes of a form that makes a key or a token. The answer to the form shows the secret, and
 * nothing stores it: a redirect would have to keep it until the next page.
 */
export function secretFormRoutes<Input extends object, Result extends { secret: string }>(
  services: DashboardServices,
  form: SecretForm<Input, Result>,
): Route[] {
  const { noun, prefix, title, submit, access, above, action, more, models = [] } = form;
  const { path } = above;
  return formRoutes({
    access,
    page: `${path}/new`,
    action: path,
    show(ctx, visitor, state) {
      const body = (
        <Card>
          <ActionForm {...{ action, path, state, submit, models }} cancel={path} is_once />
        </Card>
      );
      const page = { title, above, at: path, narrow: true, body };
      sendPage(ctx, visitor, page, state.fault ? 400 : 200);
    },
    async act(ctx, visitor, sent) {
      const person = requireSession(visitor);
      const id = formId(prefix, person.session.account_id, textOf(sent, 'form_token'));
      const input = {
        ...(readActionForm(action, sent, services.now()) as Input),
        ...more?.(person),
        ...(id !== undefined && { id }),
      };
      try {
        const result = await runAction(action, input, ctx, visitor, services);
        showSecret(ctx, visitor, form, result);
      } catch (error) {
        if (!(error instanceof IdTaken)) throw error;
        const page = {
          title: 'This form was sent before',
          above,
          at: path,
          narrow: true,
          body: <SentBefore noun={noun} id={error.id} path={path} />,
        };
        sendPage(ctx, visitor, page, 409);
      }
    },
  });
}

function showSecret<Input extends object, Result extends { secret: string }>(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  { above, shown }: SecretForm<Input, Result>,
  result: Result,
): void {
  const { title, about, hint, use } = shown(result);
  const { path } = above;
  const body = (
    <ShownOnce
      notice={<SecretNotice />}
      title="Secret"
      label="secret"
      text={result.secret}
      {...{ hint, path }}
    >
      {use}
    </ShownOnce>
  );
  sendPage(ctx, visitor, { title, about, above, at: path, narrow: true, body }, 201);
}

/** The notice beside a secret that is shown once. */
function SecretNotice(): JSX.Element {
  return (
    <Notice colour="warn">
      <strong>Copy it now.</strong> It is not stored and cannot be shown again.
      <noscript>
        {' '}
        Do not load this page again: your browser would send the form once more, and its answer
        would not have the secret.
      </noscript>
    </Notice>
  );
}

/** On a double submit, or a reload. */
function SentBefore(props: { noun: string; id: string; path: string }): JSX.Element {
  const { noun, id, path } = props;
  return (
    <Card>
      <p>The first submission created the {noun}. This one created nothing.</p>
      <p class="soft">
        The secret was in the answer to the first submission and cannot be shown again. If you did
        not copy it, revoke that {noun} and create another one.
      </p>
      <div class="row">
        <a class="button solid" href={`${path}/${id}/revoke`}>
          Revoke that {noun}
        </a>
        <a class="button" href={`${path}/new`}>
          Create another {noun}
        </a>
      </div>
    </Card>
  );
}
