import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ERRORS, type ErrorCode } from '../core/errors.js';

interface Refusal {
  code: ErrorCode;
  message: string;
}

const NOT_HTTP: Refusal = {
  code: 'invalid_request',
  message: 'The request is not valid HTTP.',
};

/** Node's error codes for a request that reaches no stage, with the answer to the client. */
const REFUSALS: ReadonlyMap<string | undefined, Refusal> = new Map([
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { code: 'request_timeout', message: 'The request did not arrive in time.' },
  ],
  [
    'HPE_HEADER_OVERFLOW',
    { code: 'headers_too_large', message: 'The headers of the request are too large.' },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { code: 'body_too_large', message: 'The chunk extensions of the body are too large.' },
  ],
]);

/**
 * Answers a malformed request with an error in the usual shape. If an answer is in flight on the
 * same socket, closes the socket instead, because bytes written now would land inside that answer.
 * The socket is closed after the error is written: after a CONNECT Node no longer reads from it,
 * and would never notice that the client disconnects.
 */
export function refuseMalformed(
  fault: string | undefined,
  socket: Duplex,
  isAnswering: () => boolean,
): void {
  if (fault === 'ECONNRESET' || !socket.writable || isAnswering()) {
    socket.destroy();
    return;
  }
  const { code, message } = REFUSALS.get(fault) ?? NOT_HTTP;
  const { status, type } = ERRORS[code];
  const body = JSON.stringify({ error: { message, type, code, param: null } });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\n` +
      `x-request-id: ${randomUUID()}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
