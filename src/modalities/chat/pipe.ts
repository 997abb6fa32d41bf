import type { ChatDelta } from './codec.js';
import type { ChatStreamWriter } from './formats/format.js';
import type { ChatStream } from './attempt.js';
import type { SseWriter } from '../../http/client-connection.js';

/** How a stream came to its end. `left`: the client went, and the upstream was not heard out. */
export type Ending = { how: 'complete' } | { how: 'left' } | { how: 'cut'; error: unknown };

/** How much is read of a stream after its client has left, before it is given up. */
export interface Unheard {
  linger_bytes: number;
  drain_bytes: number;
}

/**
 * Carries a stream from the upstream to the client, as it comes and no faster than the client
 * reads. When the client leaves it either stops, or reads on without writing, to learn the usage:
 * for a moment where the upstream stops billing when it is aborted, so that leaving early is no way
 * to pay less.
 */
export async function pipeStream(
  stream: ChatStream,
  writer: ChatStreamWriter,
  sink: SseWriter,
  unheard: Unheard,
): Promise<Ending> {
  const { client, rest, first } = stream;
  let bytes = 0;
  let hasLeft = false;
  const most = (): number =>
    client.on_disconnect === 'linger' ? unheard.linger_bytes : unheard.drain_bytes;
  const take = (pieces: readonly ChatDelta[]): Promise<void> | undefined => {
    if (!client.disconnected) {
      const text = writer.frame(pieces);
      if (writer.hasSpoken && client.on_disconnect === 'abort') client.on_disconnect = 'linger';
      return text ? sink.write(text) : undefined;
    }
    writer.noteUsage(pieces);
    bytes += weight(pieces);
    if (client.on_disconnect !== 'abort' && bytes <= most()) return undefined;
    hasLeft = true;
    rest.leave();
    return undefined;
  };
  try {
    await take(first);
    if (!hasLeft) await rest.each(take);
    return hasLeft ? { how: 'left' } : { how: 'complete' };
  } catch (error) {
    return client.disconnected ? { how: 'left' } : { how: 'cut', error };
  }
}

/** Near enough to the bytes of what nobody hears, whichever kind of piece they came as. */
function weight(pieces: readonly ChatDelta[]): number {
  return JSON.stringify(pieces).length;
}
