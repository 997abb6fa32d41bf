import type { ComponentChildren, InputHTMLAttributes, JSX } from 'preact';

/** An input with its label, hint and fault. */
export function Field(props: {
  label: string;
  name: string;
  hint?: ComponentChildren;
  fault?: string | undefined;
  input: InputHTMLAttributes;
}): JSX.Element {
  const { label, name, hint, fault, input } = props;
  const said = [hint && `${name}-hint`, fault !== undefined && `${name}-fault`].filter(Boolean);
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={said.join(' ') || undefined}
        {...input}
      />
      {fault !== undefined && (
        <span class="wrong" id={`${name}-fault`}>
          {fault}
        </span>
      )}
      {hint && (
        <span class="hint" id={`${name}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

export interface Option {
  value: string;
  name: string;
}

/** A radio button with its label. */
export function Choice(props: {
  label: string;
  name: string;
  value?: string | undefined;
  options: readonly Option[];
}): JSX.Element {
  return (
    <div class="field">
      <label for={props.name}>{props.label}</label>
      <select id={props.name} name={props.name}>
        {props.options.map(({ value, name }) => (
          <option value={value} selected={value === props.value}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
