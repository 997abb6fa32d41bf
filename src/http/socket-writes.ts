import type { ServerResponse } from 'node:http';

/**
 * Writes a text in this turn of the event loop. The cork joins Node's pieces (head, chunk size,
 * text) into one write to the kernel. Without it Node waits until the next tick, which costs more.
 */
export function writeCorked(res: ServerResponse, text: string, encoding: Encoding): boolean {
  const { socket } = res;
  socket?.cork();
  const taken = res.write(text, encoding);
  socket?.uncork();
  return taken;
}

export type Encoding = 'latin1' | 'utf8';

/** The encoding for a text of `bytes` bytes in UTF-8. As many bytes as characters mean ASCII. */
export function encodingOf(text: string, bytes: number): Encoding {
  return bytes === text.length ? 'latin1' : 'utf8';
}

/**
 * Resolves when the client has read what was written, or has disconnected. A client that reads
 * nothing for `client_ms` is disconnected, since it holds an upstream, money and memory.
 */
export function waitForDrain(res: ServerResponse, client_ms: number): Promise<void> {
  const full = res.socket ?? res;
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      full.off('drain', done);
      res.off('close', done);
      resolve();
    };
    const timer = setTimeout(() => {
      res.destroy();
      // An answer that waits behind another one has no socket, and so emits no `close`.
      done();
    }, client_ms);
    full.on('drain', done);
    res.on('close', done);
    if (res.destroyed) done();
  });
}
