import { explainCharts } from './charts.js';

/** Fetches the live part of a page again every few seconds. */
export function keepLive(root: Document): void {
  const every_ms = Number(root.querySelector<HTMLElement>('[data-live]')?.dataset.live);
  if (!(every_ms > 0)) return;
  const schedule = (): void => {
    setTimeout(() => void refresh(root).finally(schedule), every_ms);
  };
  schedule();
}

/** Leaves the part as it is while the tab is hidden or the visitor points at it or uses it. */
async function refresh(root: Document): Promise<void> {
  const live = root.querySelector('[data-live]');
  if (!live || root.hidden || isInUse(live, root)) return;
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (!answer.ok || answer.redirected) return;
    const text = await answer.text();
    const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('[data-live]');
    if (!fresh || isInUse(live, root)) return;
    live.replaceChildren(...fresh.childNodes);
    explainCharts(live);
  } catch {
    // The gateway cannot be reached: the next refresh tries again.
  }
}

function isInUse(live: Element, root: Document): boolean {
  return live.contains(root.activeElement) || live.querySelector('[data-chart]:hover') !== null;
}
