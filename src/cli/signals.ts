/** Resolves at the first SIGTERM or SIGINT. */
export function untilStopped(): Promise<undefined> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve(undefined));
    process.once('SIGINT', () => resolve(undefined));
  });
}
