import type { ComponentChildren, InputHTMLAttributes, JSX } from 'preact';
import { capitalize } from './formatting.js';

/** An input with its label, hint and fault. */
export function Field(props: {
  label: string;
  name: string;
  hint?: ComponentChildren;
  fault?: string | undefined;
  input: InputHTMLAttributes;
}): JSX.Element {
  const { label, name, hint, fault, input } = props;
  const descriptions = [hint && `${name}-hint`, fault !== undefined && `${name}-fault`].filter(
    Boolean,
  );
  return (
    <div class="stack field">
      <label for={name}>{label}</label>
      <Fault name={name} fault={fault} />
      <input
        id={name}
        name={name}
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={descriptions.join(' ') || undefined}
        {...input}
      />
      {hint && (
        <span class="hint" id={`${name}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

function Fault(props: { name: string; fault: string | undefined }): JSX.Element | null {
  if (props.fault === undefined) return null;
  return (
    <span class="wrong" id={`${props.name}-fault`}>
      {capitalize(props.fault)}
    </span>
  );
}

export interface Option {
  value: string;
  name: string;
}

const ANY: Option = { value: '', name: 'All' };

/** Options whose names are their values. */
export function namedOptions(values: readonly string[]): Option[] {
  return values.map((value) => ({ value, name: value }));
}

/** Options from the names and the IDs of keys. */
export function keyOptions(keys: readonly { id: string; name: string }[]): Option[] {
  return keys.map(({ id, name }) => ({ value: id, name }));
}

/** A drop-down list with its label and fault. */
export function Choice(props: {
  label: string;
  name: string;
  value?: string | undefined;
  options: readonly Option[];
  fault?: string | undefined;
}): JSX.Element {
  const { name, fault } = props;
  return (
    <div class="stack field">
      <label for={name}>{props.label}</label>
      <Fault name={name} fault={fault} />
      <select
        id={name}
        name={name}
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={fault === undefined ? undefined : `${name}-fault`}
      >
        {props.options.map(({ value, name }) => (
          <option value={value} selected={value === props.value}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A filter: all, the known ones, and the chosen one even if it is unknown. */
export function FilterChoice(props: {
  label: string;
  name: string;
  value: string | undefined;
  options: readonly Option[];
  fault?: string | undefined;
}): JSX.Element {
  const { value, options: known } = props;
  const isUnknown = value && known.every((one) => one.value !== value);
  const options = [ANY, ...known, ...(isUnknown ? namedOptions([value]) : [])];
  return <Choice {...props} options={options} />;
}
