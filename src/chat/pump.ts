import type { ChatPiece } from './codec.js';
import type { Framer } from './framer.js';
import type { ChatStream } from './operation.js';
import type { Sink } from './sink.js';

/** How a stream came to its end. `left`: the client went, and the upstream was not heard out. */
export type Ending = { how: 'complete' } | { how: 'left' } | { how: 'cut'; error: unknown };

/**
 * Carries a stream from the upstream to the client, as it comes and no faster than the client
 * reads. When the client leaves it either stops, or reads on without writing, to learn the usage.
 */
export async function pump(
  stream: ChatStream,
  framer: Framer,
  sink: Sink,
  drain_bytes: number,
): Promise<Ending> {
  const { client, rest, first } = stream;
  let unheard = 0;
  let hasLeft = false;
  const take = (pieces: readonly ChatPiece[]): Promise<void> | undefined => {
    if (!client.gone) {
      const text = framer.frame(pieces);
      return text ? sink.write(text) : undefined;
    }
    framer.listen(pieces);
    unheard += weight(pieces);
    if (client.on_leave === 'drain' && unheard <= drain_bytes) return undefined;
    hasLeft = true;
    rest.leave();
    return undefined;
  };
  try {
    await take(first);
    if (!hasLeft) await rest.each(take);
    return hasLeft ? { how: 'left' } : { how: 'complete' };
  } catch (error) {
    return client.gone ? { how: 'left' } : { how: 'cut', error };
  }
}

/** Near enough to the bytes of what nobody hears, whichever kind of piece they came as. */
function weight(pieces: readonly ChatPiece[]): number {
  return JSON.stringify(pieces).length;
}
