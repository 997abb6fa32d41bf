import type { Received, Step } from '../../../../../helpers/upstream.js';
import type { Arrived, Turn } from '../conversation-parts.js';

/** An upstream of one wire: it reads a request and answers a turn, in that wire's words. */
export interface WireFake {
  /** The manifest, and further keys of the provider's entry. */
  uses: string;
  provider: string;
  /** Its name for a model that thinks. */
  model: string;
  read(received: Received): Arrived;
  answer(turn: Turn, received: Received): Step;
}

export const KEY = 'api_key: upstream-key-0123456789';

/** What the fakes give with a thought, and demand back with the results of its calls. */
export const SIGNATURE = 'c2lnbmVkIQ==';

export function json(body: object): Step {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** The name of the tool that was called under an id; a result of another id is nobody's. */
export function nameOf(calls: readonly { id: unknown; name: string }[], id: unknown): string {
  return calls.find((call) => call.id === id)?.name ?? 'nobody';
}
