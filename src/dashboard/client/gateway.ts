/** An error of the gateway, with its message. */
export class Refusal extends Error {
  override name = 'Refusal';
}

let secret: Promise<Key> | undefined;

interface Key {
  id: string;
  secret: string;
}

const LIFETIME_S = 3600;
const UNAUTHORISED = 401;

/**
 * Calls the gateway as other programs do, with a key of this tab: made at the first call, and
 * revoked when the page closes. Throws `Refusal`.
 */
export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const answer = await ask(path, init);
  if (answer.status !== UNAUTHORISED) return checked(answer);
  // The key has expired, or was revoked.
  secret = undefined;
  return checked(await ask(path, init));
}

/** Calls the gateway, and reads the JSON of the answer. Throws `Refusal`. */
export async function callJson<T>(path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const init = body === undefined ? {} : posting(body);
  const answer = await call(path, signal ? { ...init, signal } : init);
  return (await answer.json()) as T;
}

export function posting(body: object): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** The cost of a call in decimal dollars; undefined if it was not charged. */
export async function costOf(reference: string): Promise<string | undefined> {
  const query = new URLSearchParams({ reference });
  const answer = await checked(await fetch(`/api/ledger?${query.toString()}`));
  const { data } = (await answer.json()) as { data: { kind: string; amount: string }[] };
  return data.find(({ kind }) => kind === 'charge')?.amount.replace(/^-/u, '');
}

/** Revokes the key when the page closes. */
export function endKeyWithPage(): void {
  addEventListener('pagehide', () => {
    const ended = secret;
    secret = undefined;
    void ended?.then(({ id }) =>
      fetch(`/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE', keepalive: true }),
    );
  });
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  secret ??= makeKey();
  const making = secret;
  try {
    const key = await making;
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${key.secret}`);
    return await fetch(path, { ...init, headers });
  } catch (error) {
    if (error instanceof Refusal && secret === making) secret = undefined;
    throw error;
  }
}

async function makeKey(): Promise<Key> {
  const init = posting({ name: 'Playground', expires_in_s: LIFETIME_S });
  const answer = await checked(await fetch('/api/keys', init));
  return (await answer.json()) as Key;
}

async function checked(answer: Response): Promise<Response> {
  if (answer.ok) return answer;
  const body = (await answer.json().catch(() => ({}))) as { error?: { message?: string } };
  throw new Refusal(body.error?.message ?? `The gateway answered ${answer.status}.`);
}
