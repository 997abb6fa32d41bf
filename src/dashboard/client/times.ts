const SHOWN = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Puts the person's own time zone before UTC in the tips of times. */
export function localiseTimes(root: ParentNode): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    time.title = `${SHOWN.format(new Date(time.dateTime))} (${time.title})`;
  }
}
