import { randomBytes } from 'node:crypto';
import type { JSX } from 'preact';
import {
  invalid,
  setInput,
  type Field as ActionField,
  type FieldForm,
  type OneAction,
} from '../../actions/action.js';
import { isoTime } from '../../actions/shapes.js';
import { SCOPE_NAMES, SCOPES } from '../../core/scopes.js';
import { checking } from '../../http/body-schema.js';
import { readShippedSchema, validatorOfShipped } from '../../lib/schemas.js';
import { Choice, Field } from './fields.js';
import { amountOf, faultMessage, textOf, type FormState } from './form.js';
import { Notice } from './parts.js';

/** When a key or a token may expire, in seconds from now. */
const LIFETIMES = [
  { value: '', name: 'Never' },
  { value: '3600', name: 'In an hour' },
  { value: '86400', name: 'In a day' },
  { value: '604800', name: 'In 7 days' },
  { value: '2592000', name: 'In 30 days' },
  { value: '7776000', name: 'In 90 days' },
  { value: '31536000', name: 'In a year' },
];

/** When a temporary increase may end. */
const INCREASES = LIFETIMES.slice(1);
/** Its end, if no other one is chosen. */
const DAY = '86400';

/** When a key may expire that has an expiry, or none. */
const NEW_LIFETIMES = [
  { value: '', name: 'As it is' },
  { value: 'none', name: 'Never' },
  ...INCREASES,
];

type ShownField = ActionField & { name: string; form: FieldForm };

/** The fields that a form shows; the lists of check boxes come last. */
function shownFields({ fields = {} }: OneAction): ShownField[] {
  const shown = Object.entries(fields).flatMap(([name, field]) =>
    field.form ? [{ ...field, name, form: field.form }] : [],
  );
  return [...shown.filter((field) => !isList(field)), ...shown.filter(isList)];
}

function isList({ type }: ActionField): boolean {
  return type === 'models' || type === 'scopes';
}

function requiredFields({ schema }: OneAction): readonly string[] {
  return schema ? ((readShippedSchema(schema).required ?? []) as string[]) : [];
}

/**
 * The input of an action from its form, with `more` fields from elsewhere. An empty field counts as
 * absent. Throws `GatewayError` (400, naming the field).
 */
export function readActionForm(
  action: OneAction,
  form: URLSearchParams,
  now_ms: number,
  more = {},
): object {
  const required = requiredFields(action);
  const input: Record<string, unknown> = { ...more };
  for (const field of shownFields(action)) {
    const none = action.takes_none ? null : undefined;
    const value = readField(field, form, { none, now_ms });
    const isEmpty = value === undefined && required.includes(field.name) && isList(field);
    if (isEmpty) input[field.name] = [];
    else if (value !== undefined) setInput(input, field.name, value);
  }
  if (action.schema) checking(validatorOfShipped(action.schema, 'input'))(input);
  return input;
}

/** The value of a field; `none` for one that is left empty, if it is a term to take away. */
function readField(
  { name, type }: ShownField,
  form: URLSearchParams,
  { none, now_ms }: { none: null | undefined; now_ms: number },
): unknown {
  const text = type === 'dollars' ? amountOf(form, name) : textOf(form, name);
  const words = form.getAll(name);
  if (type === 'models') return words.length > 0 ? words : none;
  if (type === 'scopes') return words.length > 0 ? words : undefined;
  if (type === 'allowances') return text === '' ? undefined : readAmounts(text);
  if (type === 'raise') return text === '' ? undefined : readRaise(text);
  if (type === 'until') {
    const isAsked = textOf(form, name.replace(/\..*/u, '')) !== '';
    return isAsked && text !== '' ? isoTime(now_ms + Number(text) * 1_000) : undefined;
  }
  if (type === 'lifetime') return text === 'none' ? null : text === '' ? undefined : Number(text);
  if (type === 'rate') return text === '' ? none : Number(text);
  if (type === 'dollars') return text === '' ? none : text;
  return text === '' ? undefined : text;
}

/** The amounts of `day=5.00 5h=1.00` by their windows. Throws `GatewayError` (400). */
function readAmounts(text: string): Record<string, string> {
  const parts = text.split(/[\s,]+/u).filter((part) => part !== '');
  return Object.fromEntries(parts.map((part) => readAmount('allowances', part)));
}

function readRaise(text: string): { window: string; by: string } {
  const [window, by] = readAmount('raise', text);
  return { window, by };
}

function readAmount(param: string, text: string): [window: string, amount: string] {
  const [, window, amount] = /^([^=]+)=\$?(\d{1,9}(?:\.\d{1,9})?)$/u.exec(text) ?? [];
  if (window !== undefined && amount !== undefined) return [window, amount];
  throw invalid(param, `"${text}" is not a window and an amount, such as day=5.00.`);
}

interface FormProps {
  action: OneAction;
  /** The path to which it is sent. */
  path: string;
  state: FormState;
  /** The text of its button. */
  submit: string;
  /** Values that are filled in at first; they are required. */
  values?: Readonly<Record<string, string>>;
  /** The models that a field may list. */
  models?: readonly string[];
}

/** The form of an action: its fields in one line, and the button. */
export function InlineActionForm(props: FormProps): JSX.Element {
  return (
    <form class="filters" method="post" action={props.path}>
      <FormFields {...props} />
      <button class="solid">{props.submit}</button>
    </form>
  );
}

/** The form of an action on a page of its own; `cancel` is the path of the page before. */
export function ActionForm(props: FormProps & { cancel: string; is_once?: true }): JSX.Element {
  const { state, path, is_once, cancel, submit } = props;
  return (
    <form class="stack" method="post" action={path}>
      {is_once && (
        <input
          type="hidden"
          name="form_token"
          value={state.values.get('form_token') ?? newToken()}
        />
      )}
      <FormFields {...props} />
      <div class="row">
        <button class="solid">{submit}</button>
        <a class="button" href={cancel}>
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

function FormFields(props: FormProps & { is_once?: true }): JSX.Element {
  const { action, state } = props;
  const shown = shownFields(action);
  const isElsewhere = state.fault && shown.every(({ name }) => name !== state.fault?.param);
  return (
    <>
      {isElsewhere && <Notice colour="bad">{state.fault?.message}</Notice>}
      {shown.map((field, at) => (
        <FormField {...props} field={field} isFocused={props.is_once === true && at === 0} />
      ))}
    </>
  );
}

function FormField(props: FormProps & { field: ShownField; isFocused: boolean }): JSX.Element {
  const { action, state, values = {}, models = [], field, isFocused } = props;
  const { name, type, form } = field;
  const { label, hint } = form;
  const fault = faultMessage(state, name);
  const value = state.values.get(name) ?? values[name] ?? '';
  const chosen = state.values.getAll(name);
  if (type === 'models') {
    const options = models.map((model) => ({ value: model }));
    return <CheckList {...{ label, hint, name, options, chosen, fault }} />;
  }
  if (type === 'scopes') {
    const options = SCOPE_NAMES.map((scope) => ({ value: scope, about: SCOPES[scope] }));
    return <CheckList {...{ label, hint, name, options, chosen, fault }} />;
  }
  if (type === 'lifetime') {
    const options = action.takes_none ? NEW_LIFETIMES : LIFETIMES;
    return <Choice {...{ label, name, value, fault, options }} />;
  }
  if (type === 'until') {
    return <Choice {...{ label, name, value: value || DAY, fault, options: INCREASES }} />;
  }
  const required = requiredFields(action).includes(name) || values[name] !== undefined;
  return (
    <Field
      {...{ label, name, hint, fault }}
      input={{
        type: 'text',
        inputMode: type === 'dollars' ? 'decimal' : undefined,
        required,
        maxLength: form.max,
        value,
        placeholder: form.placeholder,
        autoComplete: 'off',
        autoFocus: isFocused,
      }}
    />
  );
}

function CheckList(props: {
  label: string;
  hint: string | undefined;
  name: string;
  options: readonly { value: string; about?: string }[];
  chosen: readonly string[];
  fault: string | undefined;
}): JSX.Element {
  const { label, hint, name, options, chosen, fault } = props;
  const isDescribed = options.some(({ about }) => about !== undefined);
  return (
    <fieldset aria-describedby={fault === undefined ? undefined : `${name}-fault`}>
      <legend>{label}</legend>
      <p class="hint">{hint}</p>
      {fault !== undefined && (
        <p class="wrong" id={`${name}-fault`} role="alert">
          {fault}
        </p>
      )}
      <div class={isDescribed ? undefined : 'choices'}>
        {options.map(({ value, about }) => (
          <label class="choice">
            <input type="checkbox" name={name} value={value} checked={chosen.includes(value)} />
            {about === undefined ? (
              value
            ) : (
              <>
                <code>{value}</code>
                <span class="hint">{about}</span>
              </>
            )}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
