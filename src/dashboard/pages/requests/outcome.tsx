import type { JSX } from 'preact';
import {
  CLIENT_DISCONNECTED_STATUS,
  flagsOf,
  hasFailed,
  type RequestFlag,
  type RequestRecord,
} from '../../../core/request-record.js';
import { Badge } from '../parts.js';

/** The status of a request, and the code of its error. */
export function Outcome({ record }: { record: RequestRecord }): JSX.Element {
  const { status, code } = record;
  if (status === CLIENT_DISCONNECTED_STATUS) return <Badge>{status} client left</Badge>;
  if (!hasFailed(record)) return <Badge colour="good">{status}</Badge>;
  return (
    <Badge colour={status >= 500 || status < 400 ? 'bad' : 'warn'}>
      {status} {code}
    </Badge>
  );
}

const FLAG_WORDS: Record<RequestFlag, { name: string; about: string }> = {
  estimated: {
    name: 'estimated',
    about: 'The upstream sent no usable token count, so the gateway counted the tokens.',
  },
  client_left: { name: 'client left', about: 'The client left before the answer had ended.' },
  fallback: { name: 'fallback', about: 'Another upstream than the first one answered.' },
  moved: {
    name: 'moved',
    about: 'Another upstream answered than the one that has the cache of this conversation.',
  },
  replayed: {
    name: 'replayed',
    about: 'The stored answer of an idempotency key was sent again, and cost nothing.',
  },
  cut: { name: 'cut', about: 'The answer broke off after it had begun.' },
  uncollected: {
    name: 'uncollected',
    about: 'A part of the cost could not be collected, or was never owed.',
  },
};

/** The flags as badges, with their meaning as the tip. */
export function Flags({ record }: { record: RequestRecord }): JSX.Element {
  return (
    <>
      {flagsOf(record)
        .filter((flag) => flag !== 'client_left' || record.status !== CLIENT_DISCONNECTED_STATUS)
        .map((flag) => (
          <span title={FLAG_WORDS[flag].about}>
            <Badge colour={flag === 'uncollected' || flag === 'cut' ? 'warn' : undefined}>
              {FLAG_WORDS[flag].name}
            </Badge>{' '}
          </span>
        ))}
    </>
  );
}

/** The flags, each with its meaning. */
export function flagFacts(record: RequestRecord): { name: string; about: string }[] {
  return flagsOf(record).map((flag) => FLAG_WORDS[flag]);
}
