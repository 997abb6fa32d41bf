type Cell = string | number | bigint | boolean | null;

/**
 * Writes CSV by RFC 4180: a header row, CRLF, quotes where needed. Text that a spreadsheet would
 * run as a formula gets an apostrophe in front, since clients choose names.
 */
export function csv(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

function field(cell: Cell): string {
  const text = typeof cell === 'string' ? harmless(cell) : String(cell ?? '');
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A decimal number may begin with a minus. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/u.test(text) && !/^-?\d+(\.\d+)?$/u.test(text) ? `'${text}` : text;
}
