import type { ComponentChildren, JSX } from 'preact';
import { Card, Code } from './parts.js';

/** A text that a page shows once, and the way back to `path`. */
export function ShownOnce(props: {
  /** The warning above it. */
  notice: ComponentChildren;
  title: string;
  /** The name of the text for screen readers. */
  label: string;
  text: string;
  hint?: string;
  path: string;
  /** Further cards. */
  children?: ComponentChildren;
}): JSX.Element {
  const { notice, title, label, text, hint, path, children } = props;
  return (
    <>
      {notice}
      <Card title={title}>
        <div class="stack" data-once={path}>
          <Code label={label} id="secret" text={text} wrap />
          {hint && <p class="hint">{hint}</p>}
        </div>
      </Card>
      {children}
      <div class="row">
        <a class="button solid" href={path}>
          Done, I have copied it
        </a>
      </div>
    </>
  );
}
