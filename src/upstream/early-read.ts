import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** Wants to know when the packet that is being handed over has been parsed to its end. */
export interface PacketListener {
  packetOver(): void;
}

/** A packet on its way to the parser of its socket, which is gone from here once it was taken. */
interface Handing {
  socket: Socket;
  packet: Buffer | null;
  /** A socket carries one answer at a time, so one may listen. */
  listener: PacketListener | undefined;
}

/** Set while a packet is handed over. */
let handing: Handing | undefined;

/** True where the listener will be told; false between packets, or where another one listens. */
export function untilPacketOver(listener: PacketListener): boolean {
  if (!handing) return false;
  handing.listener ??= listener;
  return handing.listener === listener;
}

/**
 * Where the kernel puts a packet of whichever socket, until it is copied in the same turn: without
 * it Node takes so much memory for each packet anew and then gives most of it back.
 */
const ARRIVING = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Connects as undici does, and lets its parser have each packet in the turn in which it came. A
 * readable stream would keep it until the next tick and then look whether there is another one,
 * which costs more than the parsing of an event.
 */
export function connectEagerly(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, onread: { buffer: ARRIVING, callback: arrived } });
  return (to, callback) => {
    connect(to, (...[error, socket]) => {
      if (error) return callback(error, null);
      callback(null, eager(socket));
    });
  };
}

/** A packet that is not read at once, because the parser has paused, is kept as by any socket. */
function arrived(this: Socket, bytes: number, buffer: Uint8Array): boolean {
  const packet = Buffer.allocUnsafe(bytes);
  packet.set(buffer.subarray(0, bytes));
  if (this.readableLength > 0) return this.push(packet);
  const own: Handing = { socket: this, packet, listener: undefined };
  handing = own;
  try {
    this.emit('readable');
  } finally {
    handing = undefined;
  }
  own.listener?.packetOver();
  return own.packet === null || this.push(own.packet);
}

function eager<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    if (handing?.socket !== socket) return read(size);
    const { packet } = handing;
    handing.packet = null;
    return packet;
  };
  return socket;
}
