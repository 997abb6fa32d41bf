const SHOWN = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Shows moments in the person's own time, and keeps UTC for who asks. */
export function localiseTimes(root: ParentNode): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    time.title = time.textContent;
    time.textContent = SHOWN.format(new Date(time.dateTime));
  }
}
