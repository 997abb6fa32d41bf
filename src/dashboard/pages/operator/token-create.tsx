import type { JSX } from 'preact';
import { SCOPE_NAMES, SCOPES } from '../../../core/scopes.js';
import type { TokenCreation } from '../../../schema-types/token-creation.js';
import type { ManagementToken } from '../../../store/tokens/management-tokens.js';
import { createToken } from '../../../actions/token-create.js';
import { runAction } from '../../action-context.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../../types.js';
import { IdTaken } from '../../../store/store-error.js';
import { formId } from '../../views/form-id.js';
import { requireSession } from '../guard.js';
import { fieldsReader, faultMessage, textOf, type FormState } from '../form.js';
import { NameAndExpiry } from '../key-form.js';
import { sendPage } from '../page.js';
import { Card, Code, SecretNotice } from '../parts.js';
import { showSentBefore } from '../sent-before.js';
import { formRoutes } from './form-routes.js';
import { TOKENS, TOKENS_TITLE } from './tokens.js';

const ABOVE = { path: TOKENS, name: TOKENS_TITLE };

const readFields = fieldsReader<TokenCreation>('token-creation');

/**
 * The form for a management token. As for API keys, the answer to the form shows the secret, and
 * nothing stores it.
 */
export function createTokenRoutes(services: DashboardServices): Route[] {
  return formRoutes({
    page: `${TOKENS}/new`,
    action: TOKENS,
    show: showForm,
    act: async (ctx, visitor, form) => {
      const expires_in_s = textOf(form, 'expires_in_s');
      const creation = readFields({
        name: textOf(form, 'name'),
        scopes: form.getAll('scopes'),
        expires_in_s: expires_in_s === '' ? '' : Number(expires_in_s),
      });
      const id = formId(
        'mgt_',
        requireSession(visitor).session.account_id,
        textOf(form, 'form_token'),
      );
      try {
        const input = { ...creation, ...(id !== undefined && { id }) };
        const { token, secret } = await runAction(createToken, input, ctx, visitor, services);
        showSecret(ctx, visitor, services.configuration.public_url, token, secret);
      } catch (error) {
        if (!(error instanceof IdTaken)) throw error;
        showSentBefore(ctx, visitor, { noun: 'token', id: error.id, above: ABOVE });
      }
    },
  });
}

function showForm(ctx: DashboardContext, visitor: Visitor | undefined, state: FormState): void {
  const page = {
    title: 'Create management token',
    above: ABOVE,
    at: TOKENS,
    narrow: true,
    body: (
      <Card>
        <TokenForm state={state} />
      </Card>
    ),
  };
  sendPage(ctx, visitor, page, state.fault ? 400 : 200);
}

function TokenForm({ state }: { state: FormState }): JSX.Element {
  const { values } = state;
  return (
    <form class="stack" method="post" action={TOKENS}>
      <NameAndExpiry
        hint="The program that will use it; the audit log names its changes by it."
        values={values}
        fault={faultMessage(state, 'name')}
      />
      <Scopes chosen={values.getAll('scopes')} fault={faultMessage(state, 'scopes')} />
      <div class="row">
        <button class="solid">Create token</button>
        <a class="button" href={TOKENS}>
          Cancel
        </a>
      </div>
    </form>
  );
}

function Scopes(props: { chosen: readonly string[]; fault: string | undefined }): JSX.Element {
  const { chosen, fault } = props;
  return (
    <fieldset aria-describedby={fault === undefined ? undefined : 'scopes-fault'}>
      <legend>Scopes</legend>
      <p class="hint">What the program may do. No scope implies another.</p>
      {fault !== undefined && (
        <p class="wrong" id="scopes-fault" role="alert">
          {fault}
        </p>
      )}
      <div class="scopes">
        {SCOPE_NAMES.map((scope) => (
          <label class="choice">
            <input type="checkbox" name="scopes" value={scope} checked={chosen.includes(scope)} />
            <code>{scope}</code>
            <span class="hint">{SCOPES[scope]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function showSecret(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  public_url: string,
  { name, scopes }: ManagementToken,
  secret: string,
): void {
  const call = `curl ${public_url}/api/accounts \\\n  -H "authorization: Bearer ${secret}"`;
  const page = {
    title: 'Your new management token',
    about: `It is called “${name}”. Its scopes are ${scopes.join(', ')}.`,
    above: ABOVE,
    at: TOKENS,
    narrow: true,
    body: (
      <>
        <SecretNotice />
        <Card title="Secret">
          <div class="stack" data-once={TOKENS}>
            <Code label="secret" id="secret" text={secret} wrap />
            <p class="hint">A program sends it as the header authorization, after “Bearer”.</p>
          </div>
        </Card>
        {scopes.includes('accounts:read') && (
          <Card title="Use it">
            <Code label="curl" text={call} wrap />
          </Card>
        )}
        <div class="row">
          <a class="button solid" href={TOKENS}>
            Done, I have copied it
          </a>
        </div>
      </>
    ),
  };
  sendPage(ctx, visitor, page, 201);
}
