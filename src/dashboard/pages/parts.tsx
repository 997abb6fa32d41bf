import type { ComponentChildren, JSX } from 'preact';
import { formatDollars } from '../../lib/money.js';
import { Icon } from './icons.js';
import { formatRelativeTime, formatAmount, formatTime } from './formatting.js';

/** An amount in nano-dollars, with all its digits as the tip. */
export function Money({ nano }: { nano: bigint }): JSX.Element {
  const exact = formatDollars(nano);
  return (
    <data value={exact} title={`$${exact}`}>
      {formatAmount(nano)}
    </data>
  );
}

/**
 * A time as the pages show all times: how long ago it was, with the exact time in UTC as the tip. A
 * script adds the person's own time zone.
 */
export function Ago({ at_ms, now_ms }: { at_ms: number; now_ms: number }): JSX.Element {
  return (
    <time
      class="nowrap"
      dateTime={new Date(at_ms).toISOString()}
      title={formatTime(at_ms)}
      data-local
    >
      {formatRelativeTime(at_ms, now_ms)}
    </time>
  );
}

export type StatusColour = 'good' | 'warn' | 'bad';

export function Badge(props: {
  colour?: StatusColour | undefined;
  children: ComponentChildren;
}): JSX.Element {
  return <span class={props.colour ? `badge ${props.colour}` : 'badge'}>{props.children}</span>;
}

/** A notice, which screen readers read at once. */
export function Notice(props: {
  colour?: StatusColour | undefined;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div
      class={props.colour ? `notice ${props.colour}` : 'notice'}
      role={props.colour === 'bad' ? 'alert' : 'status'}
    >
      <div>{props.children}</div>
    </div>
  );
}

export function Card(props: {
  title?: string | undefined;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  /** No margin around the content, for tables. */
  flush?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="card">
      {props.title !== undefined && (
        <header class="row apart">
          <div>
            <h2>{props.title}</h2>
            {props.about && <p class="hint">{props.about}</p>}
          </div>
          {props.actions}
        </header>
      )}
      {props.flush ? props.children : <div class="body stack">{props.children}</div>}
    </section>
  );
}

export interface Figure {
  name: string;
  value: ComponentChildren;
  note?: ComponentChildren;
}

export function Figures({ figures }: { figures: readonly Figure[] }): JSX.Element {
  return (
    <dl class="card figures">
      {figures.map(({ name, value, note }) => (
        <div>
          <dt class="hint">{name}</dt>
          <dd class="figure">{value}</dd>
          {note && <dd class="hint">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** The next step of somebody who has made no call. */
export const TRY_PLAYGROUND = { href: '/playground', text: 'Try the Playground' };

/** An empty list: its purpose, and the next step. */
export function Empty(props: {
  title: string;
  link?: { href: string; text: string } | undefined;
  children: ComponentChildren;
}): JSX.Element {
  const { title, link, children } = props;
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children}
      {link && (
        <a class="button" href={link.href}>
          {link.text}
        </a>
      )}
    </div>
  );
}

/** What stands where the file has no model. */
export function NoModelYet(): JSX.Element {
  return (
    <Card>
      <Empty title="No model yet">
        <p>
          Declare one under <code>models:</code> in gateway.yaml; it appears here as soon as the
          file is saved.
        </p>
      </Empty>
    </Card>
  );
}

/** Text to copy. The button shows only if scripts run. */
export function Code(props: {
  text: string;
  label: string;
  wrap?: boolean;
  id?: string;
}): JSX.Element {
  return (
    <div class="code">
      <pre
        id={props.id}
        class={props.wrap ? 'wrap' : undefined}
        tabIndex={0}
        role="region"
        aria-label={props.label}
      >
        <code>{props.text}</code>
      </pre>
      <CopyButton text={props.text} label={`Copy ${props.label}`} />
    </div>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <button type="button" class="plain" data-copy={text} aria-label={label} hidden>
      <Icon name="copy" />
      <span aria-live="polite">Copy</span>
    </button>
  );
}
