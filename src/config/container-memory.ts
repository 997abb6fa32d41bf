const MB = 1024 ** 2;
const MOST_BYTES = 256 * MB;
const LEAST_BYTES = 32 * MB;
/** A process without requests. */
const AT_REST_BYTES = 150 * MB;

/**
 * The default of `limits.in_flight_bytes`: requests take up to twice that, which has to fit into
 * the memory of the container (`process.constrainedMemory()`: zero or undefined without a limit).
 */
export function memoryOfRequests(container_bytes: number | undefined): number {
  if (!container_bytes) return MOST_BYTES;
  const room_bytes = Math.floor((container_bytes - AT_REST_BYTES) / 2);
  return Math.min(MOST_BYTES, Math.max(LEAST_BYTES, room_bytes));
}
