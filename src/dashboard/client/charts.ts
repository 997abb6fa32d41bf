import { element } from './elements.js';

/** Shows the value of a bar beside it, faster than the browser's own tip. */
export function explainCharts(root: ParentNode): void {
  for (const chart of root.querySelectorAll<HTMLElement>('[data-chart]')) {
    const tip = element('div', '', 'tip');
    tip.hidden = true;
    chart.append(tip);
    for (const day of chart.querySelectorAll('g')) {
      const title = day.querySelector('title');
      const text = title?.textContent ?? '';
      title?.remove();
      day.addEventListener('pointerenter', () => show(tip, text, chart, day));
    }
    chart.addEventListener('pointerleave', () => (tip.hidden = true));
  }
}

function show(tip: HTMLElement, text: string, chart: HTMLElement, day: Element): void {
  const [head = '', ...lines] = text.split('\n');
  const list = lines.map((line) => {
    const at = line.lastIndexOf(': ');
    const row = element('div', '', 'row apart');
    row.append(element('span', line.slice(0, at), 'soft'), element('span', line.slice(at + 2)));
    return row;
  });
  tip.replaceChildren(element('strong', head), ...list);
  tip.hidden = false;
  place(tip, chart.getBoundingClientRect(), day.getBoundingClientRect());
}

/** Placed on the side that has room. */
function place(tip: HTMLElement, chart: DOMRect, day: DOMRect): void {
  const right = day.right - chart.left + 8;
  const isRoom = right + tip.offsetWidth <= chart.width;
  const left = isRoom ? right : day.left - chart.left - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(0, left)}px`;
}
