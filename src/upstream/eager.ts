import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/**
 * Connects as undici does, and lets its parser have each packet in the turn in which it came. A
 * readable stream would keep it until the next tick and then look whether there is another one,
 * which costs more than the parsing of an event.
 */
export function connectEagerly(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (to, callback) => {
    connect(to, (...[error, socket]) => {
      if (error) return callback(error, null);
      callback(null, eager(socket));
    });
  };
}

/** A packet that is not read at once, because the parser has paused, is kept as by any socket. */
function eager<S extends Socket>(socket: S): S {
  const [push, read] = [socket.push.bind(socket), socket.read.bind(socket)];
  let packet: unknown = null;
  let isHandingOver = false;
  socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null || socket.readableLength > 0) return push(chunk, encoding);
    packet = chunk;
    isHandingOver = true;
    try {
      socket.emit('readable');
    } finally {
      isHandingOver = false;
    }
    if (packet === null) return true;
    const left = packet;
    packet = null;
    return push(left, encoding);
  };
  socket.read = (size?: number): unknown => {
    if (!isHandingOver) return read(size);
    const taken = packet;
    packet = null;
    return taken;
  };
  return socket;
}
