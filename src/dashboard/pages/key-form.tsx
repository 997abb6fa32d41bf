import { randomBytes } from 'node:crypto';
import type { JSX } from 'preact';
import { Choice, Field } from './fields.js';
import { faultMessage, type FormState } from './form.js';
import { Notice } from './parts.js';

/** When a key or a token may expire, in seconds from now. */
const EXPIRIES = [
  { value: '', name: 'Never' },
  { value: '3600', name: 'In an hour' },
  { value: '86400', name: 'In a day' },
  { value: '604800', name: 'In 7 days' },
  { value: '2592000', name: 'In 30 days' },
  { value: '7776000', name: 'In 90 days' },
  { value: '31536000', name: 'In a year' },
];

export function KeyForm(props: { state: FormState; models: readonly string[] }): JSX.Element {
  const { values, fault } = props.state;
  const faultOf = (name: string): string | undefined => faultMessage(props.state, name);
  const isAtField = fault?.param === 'name' || fault?.param === 'limit';
  return (
    <form class="stack" method="post" action="/settings/keys">
      {fault && !isAtField && <Notice colour="bad">{fault.message}</Notice>}
      <NameAndExpiry
        hint="What it is for, such as the program that will use it."
        values={values}
        fault={faultOf('name')}
      />
      <Limit value={values.get('limit') ?? ''} fault={faultOf('limit')} />
      <Models models={props.models} chosen={values.getAll('models')} />
      <div class="row">
        <button class="solid">Create API Key</button>
        <a class="button" href="/settings/keys">
          Cancel
        </a>
      </div>
    </form>
  );
}

/** A one-time token, so that the same form sent twice makes one key or token. */
function newToken(): string {
  return randomBytes(16).toString('base64url');
}

/** The fields that a key and a token have in common, with the form's one-time token. */
export function NameAndExpiry(props: {
  hint: string;
  values: URLSearchParams;
  fault: string | undefined;
}): JSX.Element {
  const { hint, values, fault } = props;
  return (
    <>
      <input type="hidden" name="form_token" value={values.get('form_token') ?? newToken()} />
      <Field
        label="Name"
        name="name"
        hint={hint}
        fault={fault}
        input={{
          type: 'text',
          value: values.get('name') ?? '',
          required: true,
          maxLength: 100,
          autoComplete: 'off',
          autoFocus: true,
        }}
      />
      <Choice
        label="Expires"
        name="expires_in_s"
        value={values.get('expires_in_s') ?? ''}
        options={EXPIRIES}
      />
    </>
  );
}

function Limit(props: { value: string; fault: string | undefined }): JSX.Element {
  return (
    <Field
      label="Spending limit, in dollars"
      name="limit"
      hint="The total that the key may spend. Leave it empty for no limit but your balance."
      fault={props.fault}
      input={{
        type: 'text',
        inputMode: 'decimal',
        value: props.value,
        placeholder: '10.00',
        pattern: '[$]?[0-9]{1,10}([.][0-9]{1,9})?',
        title: 'An amount such as 10.00',
        autoComplete: 'off',
      }}
    />
  );
}

function Models(props: { models: readonly string[]; chosen: readonly string[] }): JSX.Element {
  return (
    <fieldset>
      <legend>Models</legend>
      <p class="hint">Choose none to allow all models, also models that are added later.</p>
      <div class="choices">
        {props.models.map((model) => (
          <label class="choice">
            <input
              type="checkbox"
              name="models"
              value={model}
              checked={props.chosen.includes(model)}
            />
            {model}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
