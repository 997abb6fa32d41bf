import type { JSX } from 'preact';
import { Notice } from './parts.js';

/** The notice on every page for a visitor whose account is suspended. */
export function SuspendedNotice(): JSX.Element {
  return (
    <Notice colour="bad">
      Your account is suspended: calls with its API keys are refused, and you cannot create new
      keys. Ask an operator of this gateway to resume it.
    </Notice>
  );
}
