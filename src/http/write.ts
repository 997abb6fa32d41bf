import type { ServerResponse } from 'node:http';

/**
 * Writes as `res.write` does, but in this turn and as one piece. Node would gather what is written
 * until the next tick, and write a list of pieces, which costs more than the writing of one.
 */
export function writeCorked(res: ServerResponse, text: string, encoding: Encoding): boolean {
  const { socket } = res;
  socket?.cork();
  const taken = res.write(text, encoding);
  socket?.uncork();
  return taken;
}

export type Encoding = 'latin1' | 'utf8';

/** How to write a text of so many bytes in UTF-8: if it is as long as they are, it is ASCII. */
export function encodingOf(text: string, bytes: number): Encoding {
  return bytes === text.length ? 'latin1' : 'utf8';
}

/**
 * Resolves when the client has caught up, or has left. One that takes nothing for so long is cut
 * off: it would hold its upstream, its money and this process for ever.
 */
export function waitForDrain(res: ServerResponse, patience_ms: number): Promise<void> {
  const full = res.socket ?? res;
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(patience);
      full.off('drain', done);
      res.off('close', done);
      resolve();
    };
    const patience = setTimeout(() => {
      res.destroy();
      // Without a socket, as behind another answer on it, nothing tells that it was destroyed.
      done();
    }, patience_ms);
    full.on('drain', done);
    res.on('close', done);
    if (res.destroyed) done();
  });
}
