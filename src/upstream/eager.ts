import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** Wants to know when the packet that is being handed over has been parsed to its end. */
export interface PacketListener {
  packetOver(): void;
}

/** Set while a packet is handed over. A socket carries one answer at a time, so one may listen. */
let handing: { listener: PacketListener | undefined } | undefined;

/** True where the listener will be told; false between packets, or where another one listens. */
export function untilPacketOver(listener: PacketListener): boolean {
  if (!handing) return false;
  handing.listener ??= listener;
  return handing.listener === listener;
}

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
    const own: typeof handing = { listener: undefined };
    handing = own;
    try {
      socket.emit('readable');
    } finally {
      isHandingOver = false;
      handing = undefined;
    }
    own.listener?.packetOver();
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
