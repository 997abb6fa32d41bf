/** `npm run test:long` runs the same tests for longer, by a seed of their own. */
export const isLong = process.env.TOLLGATE_TEST_LONG === '1';

/** One seed, so that a run is as the last one; `TOLLGATE_TEST_SEED` repeats a long one. */
export const SEED = Number(
  process.env.TOLLGATE_TEST_SEED ?? (isLong ? Math.floor(Math.random() * 2 ** 31) : 1),
);
