/**
 * A page that may be seen once: loaded again, or come back to, it is the page that it names.
 * Without this a reload would send its form again.
 */
export function showOnce(root: ParentNode): void {
  const path = root.querySelector<HTMLElement>('[data-once]')?.dataset['once'];
  if (path === undefined) return;
  history.replaceState(null, '', path);
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.replace(path);
  });
}
