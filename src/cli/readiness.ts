import { isRecord } from '../lib/objects.js';
import { systemCodes } from '../upstream/connection-error.js';
import { sendSmall } from '../upstream/small-request.js';
import { isWildcard, written, type Address } from './listen.js';

/** The state of a gateway at its address. `reason` and `configuration` are null if all is well. */
export interface Serving {
  address: string;
  /** Whether a gateway answers there. */
  answers: boolean;
  ready: boolean;
  /** Why it does not answer, or is not ready. */
  reason: string | null;
  /** Why an older configuration serves, or which changed keys wait for a restart. */
  configuration: string | null;
}

const LIMITS = { timeout_ms: 3_000, max_bytes: 64 * 1024 };

/** Calls `/readyz`, for a gateway that listens on all addresses at the local one. */
export async function readinessAt({ host, port }: Address): Promise<Serving> {
  const local_host = host === '::' ? '::1' : '127.0.0.1';
  const address = written({ host: isWildcard({ host }) ? local_host : host, port });
  const none = { address, answers: false, ready: false, configuration: null };
  if (port === 0) return { ...none, reason: 'any free port: name the one it got by --listen' };
  try {
    const answer = await sendSmall(`http://${address}/readyz`, { method: 'GET' }, LIMITS);
    const body: unknown = await answer.json();
    if (!isRecord(body) || !['ready', 'not_ready'].includes(String(body.status))) {
      return { ...none, reason: 'something else answers there' };
    }
    return {
      address,
      answers: true,
      ready: answer.status === 200,
      reason: textOf(body.reason),
      configuration: textOf(body.configuration),
    };
  } catch (error) {
    return { ...none, reason: faultOf(error) };
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function faultOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'something else answers there';
  const [code] = systemCodes(error);
  if (code === 'ETIMEDOUT') return `nothing answers there within ${LIMITS.timeout_ms / 1_000} s`;
  return `nothing answers there${code === undefined ? '' : ` (${code})`}`;
}
