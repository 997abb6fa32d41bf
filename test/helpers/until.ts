/** Waits until a condition holds, looking again at every turn of the event loop, or rejects. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  deadline_ms = 5_000,
): Promise<void> {
  const end = Date.now() + deadline_ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`It never came to this: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
