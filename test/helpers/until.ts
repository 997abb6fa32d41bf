/** Reached by a failing test alone, so it allows for a machine that is busy with other things. */
const DEADLINE_MS = 60_000;

/** Waits until a condition holds, looking again at every turn of the event loop, or rejects. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  deadline_ms = DEADLINE_MS,
): Promise<void> {
  const end = Date.now() + deadline_ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`It never came to this: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
