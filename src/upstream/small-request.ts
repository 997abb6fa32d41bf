/** The limits of a request that is no model call. */
interface SmallLimits {
  /** The time for the whole answer. */
  timeout_ms: number;
  /** The most bytes of an answer. */
  max_bytes: number;
}

interface SmallRequest {
  method: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request to an address that the operator chose: no retry and no redirect, which would lead
 * to another address. Any status is an answer. Rejects if no whole answer comes within the limits.
 */
export async function sendSmall(
  url: string,
  { method, headers = {}, body, signal }: SmallRequest,
  { timeout_ms, max_bytes }: SmallLimits,
): Promise<Response> {
  // The library takes long to load, and few commands need it.
  const { got } = await import('got');
  const stop = new AbortController();
  const asked = got(url, {
    method,
    headers: { 'user-agent': 'tollgate', ...headers },
    ...(body !== undefined && { body }),
    signal: AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]),
    timeout: { request: timeout_ms },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    responseType: 'buffer',
  });
  const limit = ({ transferred }: { transferred: number }): void => {
    if (transferred > max_bytes) stop.abort(new Error(`The answer has over ${max_bytes} bytes.`));
  };
  try {
    const answer = await asked.on('downloadProgress', limit);
    const { statusCode: status, statusMessage: statusText = '', body: bytes } = answer;
    const answered = Object.entries(answer.headers).flatMap(([name, value = []]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    );
    const whole = bytes.length > 0 ? new Uint8Array(bytes) : null;
    return new Response(whole, { status, statusText, headers: answered });
  } catch (error) {
    stop.signal.throwIfAborted();
    signal?.throwIfAborted();
    throw error;
  }
}
