import type { GatewayError } from '../errors.js';

/** An error as a page: all of its words are fit to be read by anybody. */
export interface ErrorShown {
  error: GatewayError;
  status: number;
  request_id: string;
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** The whole HTML document that tells of an error. */
export function errorPage({ error, status, request_id }: ErrorShown): string {
  const message = escape(error.message);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Error ${status}</title></head>
<body><main><h1>${message}</h1>
<p>Error ${status}, request ${escape(request_id)}</p>
<p><a href="/">To the dashboard</a></p></main></body>
</html>
`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/gu, (sign) => ENTITIES[sign] ?? '');
}
