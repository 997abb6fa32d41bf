import type { Socket } from 'node:net';

/** Reads packets into `memory`, and gives a copy of each to the socket. */
export function packetsIn(memory: Buffer) {
  const socket: { is?: Socket } = {};
  const callback = (bytes: number): boolean => {
    const packet = Buffer.allocUnsafe(bytes);
    memory.copy(packet, 0, 0, bytes);
    return socket.is?.push(packet) ?? true;
  };
  return { socket, onread: { buffer: memory, callback } };
}
