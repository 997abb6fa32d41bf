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
  const { client } = stream;
  let unheard = 0;
  try {
    for (let pieces: Pieces = stream.first; pieces; pieces = await next(stream)) {
      if (client.gone) {
        framer.listen(pieces);
        unheard += weight(pieces);
        if (client.on_leave === 'abort' || unheard > drain_bytes) return await leave(stream);
        continue;
      }
      const text = framer.frame(pieces);
      if (text) await sink.write(text);
    }
    return { how: 'complete' };
  } catch (error) {
    return client.gone ? { how: 'left' } : { how: 'cut', error };
  }
}

type Pieces = readonly ChatPiece[] | undefined;

async function next({ rest }: ChatStream): Promise<Pieces> {
  const { done, value } = await rest.next();
  return done ? undefined : value;
}

async function leave({ rest }: ChatStream): Promise<Ending> {
  await rest.return?.();
  return { how: 'left' };
}

/** Near enough to the bytes of what nobody hears, whichever kind of piece they came as. */
function weight(pieces: readonly ChatPiece[]): number {
  return JSON.stringify(pieces).length;
}
