/** How old the list prices are with which the upstreams of a configuration are compared. */
export interface ListAge {
  /** The day of the oldest of them. */
  date: string;
  days: number;
}

/** From so many days on a list is said to be old. */
const OLD_DAYS = 30;

/** Says how old the list is, and what to do; undefined for one that is not old. */
export function oldListText(age: ListAge | null): string | undefined {
  if (!age || age.days < OLD_DAYS) return undefined;
  const { date, days } = age;
  return `The list prices are of ${date}, ${days} days old: tollgate prices update reads new ones.`;
}
