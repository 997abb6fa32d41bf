import type { JSX } from 'preact';
import { Notice } from './parts.js';

/** Tells the visitor that the account is suspended, on every page. */
export function SuspendedNotice(): JSX.Element {
  return (
    <Notice mood="bad">
      This account is suspended: its API keys are refused, and it cannot make new ones. Only an
      operator of this gateway can resume it.
    </Notice>
  );
}
