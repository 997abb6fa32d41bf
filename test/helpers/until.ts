/** Reached by a failing test alone, so it allows for a machine that is busy with other things. */
const DEADLINE_MS = 60_000;
/** The longest pause between two looks, which come ever more rarely: many tests wait at a time. */
const MAX_PAUSE_MS = 20;

/** Waits until a condition holds, looking again and again, or rejects. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  deadline_ms = DEADLINE_MS,
): Promise<void> {
  const end = Date.now() + deadline_ms;
  for (let pause_ms = 1; !(await condition()); pause_ms = Math.min(pause_ms * 1.2, MAX_PAUSE_MS)) {
    if (Date.now() > end) throw new Error(`It never came to this: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
  }
}
