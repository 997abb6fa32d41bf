import type { JSX } from 'preact';
import type { KeyCreation } from '../../schema-types/key-creation.js';
import { createKey } from '../../actions/key-create.js';
import { runAction } from '../action-context.js';
import type { DashboardContext, DashboardServices, Route, Visitor } from '../types.js';
import { formId } from '../views/form-id.js';
import { AgentCards, agentModels } from './agents.js';
import { requireSession } from './guard.js';
import { amountOf, answerForm, EMPTY_FORM, fieldsReader, textOf, type FormState } from './form.js';
import { KeyForm } from './key-form.js';
import { sendPage } from './page.js';
import { Card, Code, SecretNotice } from './parts.js';
import type { Key } from '../../store/keys/keys.js';
import { IdTaken } from '../../store/store-error.js';
import { showSentBefore } from './sent-before.js';

const readFields = fieldsReader<KeyCreation>('key-creation');

/** The form for a new key, and the page that shows its secret once. */
export function createKeyRoutes(services: DashboardServices): Route[] {
  return [
    {
      method: 'GET',
      path: '/settings/keys/new',
      access: 'session',
      answer: (ctx, visitor) => showForm(ctx, visitor, services, EMPTY_FORM, 200),
    },
    {
      method: 'POST',
      path: '/settings/keys',
      access: 'session',
      answer: (ctx, visitor) => create(ctx, requireSession(visitor), services),
    },
  ];
}

/**
 * The answer to the form shows the secret, and nothing stores it. A redirect would have to keep it
 * until the next page.
 */
async function create(
  ctx: DashboardContext,
  visitor: Visitor,
  services: DashboardServices,
): Promise<void> {
  await answerForm(ctx, {
    act: async (form) => {
      const creation = readFields(fieldsOf(form));
      const { account_id } = visitor.session;
      const id = formId('key_', account_id, textOf(form, 'form_token'));
      try {
        const input = { ...creation, account_id, ...(id !== undefined && { id }) };
        const { key, secret } = await runAction(createKey, input, ctx, visitor, services);
        showSecret(ctx, visitor, services, key, secret);
      } catch (error) {
        if (!(error instanceof IdTaken)) throw error;
        const above = { path: '/settings/keys', name: 'API Keys' };
        showSentBefore(ctx, visitor, { noun: 'key', id: error.id, above });
      }
    },
    showAgain: (state) => showForm(ctx, visitor, services, state, 400),
  });
}

function fieldsOf(form: URLSearchParams): Record<string, unknown> {
  const models = form.getAll('models');
  const expires_in_s = textOf(form, 'expires_in_s');
  return {
    name: textOf(form, 'name'),
    limit: amountOf(form, 'limit'),
    expires_in_s: expires_in_s === '' ? '' : Number(expires_in_s),
    models: models.length === 0 ? '' : models,
  };
}

function showForm(
  ctx: DashboardContext,
  visitor: Visitor | undefined,
  { configuration }: DashboardServices,
  state: FormState,
  status: number,
): void {
  sendPage(
    ctx,
    visitor,
    {
      title: 'Create API Key',
      above: { path: '/settings/keys', name: 'API Keys' },
      at: '/settings/keys',
      narrow: true,
      body: (
        <Card>
          <KeyForm state={state} models={[...configuration.models.keys()]} />
        </Card>
      ),
    },
    status,
  );
}

function showSecret(
  ctx: DashboardContext,
  visitor: Visitor,
  { configuration }: DashboardServices,
  key: Key,
  secret: string,
): void {
  const suited = agentModels(configuration);
  const models = suited.filter((id) => key.models?.includes(id) ?? true);
  const page = {
    title: 'Your new API key',
    about: `It is called “${key.name}”.`,
    above: { path: '/settings/keys', name: 'API Keys' },
    at: '/settings/keys',
    narrow: true,
    body: (
      <>
        <Secret secret={secret} public_url={configuration.public_url} />
        {models.length > 0 && <p class="soft">Or start a coding agent with it:</p>}
        <AgentCards configuration={configuration} models={models} secret={secret} />
        <div class="row">
          <a class="button solid" href="/settings/keys">
            Done, I have copied it
          </a>
        </div>
      </>
    ),
  };
  sendPage(ctx, visitor, page, 201);
}

function Secret({ secret, public_url }: { secret: string; public_url: string }): JSX.Element {
  return (
    <>
      <SecretNotice />
      <Card title="Secret">
        <div class="stack" data-once="/settings/keys">
          <Code label="secret" id="secret" text={secret} wrap />
          <p class="hint">
            Keep it out of version control and of programs that run in a browser; an environment
            variable is a good place.
          </p>
        </div>
      </Card>
      <Card title="Use it">
        <Code
          label="environment"
          text={`export OPENAI_BASE_URL=${public_url}/v1\nexport OPENAI_API_KEY=${secret}`}
        />
      </Card>
    </>
  );
}
