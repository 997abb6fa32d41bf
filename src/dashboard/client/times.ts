const SHOWN = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Shows times in the person's time zone, with UTC as the tip. */
export function localiseTimes(root: ParentNode): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    time.title = time.textContent;
    time.textContent = SHOWN.format(new Date(time.dateTime));
  }
}
