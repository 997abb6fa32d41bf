import type { JSX } from 'preact';
import type { AuditEntry } from '../../../store/audit/audit-log.js';
import { isRecord } from '../../../lib/objects.js';
import { formatCount, formatTime } from '../formatting.js';

/** The values that are dollars in decimals. */
const AMOUNTS: ReadonlySet<string> = new Set(['balance', 'charged', 'limit']);

/** The values of a change, one on each line. */
export function AuditValues({ values }: { values: AuditEntry['before'] }): JSX.Element | null {
  if (values === null) return null;
  return (
    <>
      {Object.entries(values).map(([name, value]) => (
        <Value name={name} value={value} />
      ))}
    </>
  );
}

function Value({ name, value }: { name: string; value: unknown }): JSX.Element {
  const label = name.replaceAll('_', ' ');
  if (typeof value === 'boolean') return <div>{value ? label : `not ${label}`}</div>;
  if (name === 'changes' && Array.isArray(value)) {
    return (
      <>
        {value.map((change) => (
          <div>{String(change)}</div>
        ))}
      </>
    );
  }
  return (
    <div>
      <span class="hint">{label}</span> {textOf(name, value)}
    </div>
  );
}

function textOf(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  if (isRecord(value)) return textsOf(value).join(', ') || 'none';
  if (value === null) return 'none';
  const text = plainText(value);
  if (AMOUNTS.has(name)) return amountOf(text);
  const at_ms = name === 'expires' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at_ms) ? text : formatTime(at_ms);
}

/** The parts of a value that has several, such as the allowances of an account. */
function textsOf(parts: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(parts).map(([name, part]) => {
    return `${name.replaceAll('_', ' ')} ${part === null ? 'none' : plainText(part)}`;
  });
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `−$1,234.56`, with all the digits of the log. */
function amountOf(text: string): string {
  const [whole = '', ...fraction] = text.replace(/^-/u, '').split('.');
  return `${text.startsWith('-') ? '−' : ''}$${[formatCount(whole), ...fraction].join('.')}`;
}
