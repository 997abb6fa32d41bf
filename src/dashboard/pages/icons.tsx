import type { JSX } from 'preact';

/** The strokes of each icon, on a grid of 16. */
const STROKES = {
  overview: 'M2.5 2.5h4.5v5h-4.5zM9 2.5h4.5v3h-4.5zM9 8.5h4.5v5h-4.5zM2.5 10.5h4.5v3h-4.5z',
  usage: 'M2.5 13.5v-5M6.2 13.5v-11M9.8 13.5v-8M13.5 13.5v-4',
  caches:
    'M2.5 4.2c0-1 2.5-1.8 5.5-1.8s5.5.8 5.5 1.8S11 6 8 6 2.5 5.2 2.5 4.2zM2.5 4.2v7.6c0 1 2.5 1.8' +
    ' 5.5 1.8s5.5-.8 5.5-1.8V4.2M2.5 8c0 1 2.5 1.8 5.5 1.8s5.5-.8 5.5-1.8',
  requests: 'M2.5 3.5h11M2.5 8h11M2.5 12.5h7',
  live: 'M8 8l3-3M2.2 12a6.5 6.5 0 1 1 11.6 0',
  models: 'M8 1.8l5.6 3.1v6.2L8 14.2l-5.6-3.1V4.9zM2.6 5L8 8l5.4-3M8 8v6',
  playground:
    'M2.8 3.5h10.4a.8.8 0 0 1 .8.8v6.4a.8.8 0 0 1-.8.8H7l-3.2 2.6v-2.6h-1a.8.8 0 0 1' +
    '-.8-.8V4.3a.8.8 0 0 1 .8-.8z',
  agents: 'M2 3.2h12v9.6H2zM4.6 6l2.2 2-2.2 2M8.6 10.2h3',
  keys: 'M5.2 13.6a2.9 2.9 0 1 1 0-5.8 2.9 2.9 0 0 1 0 5.8zM7.3 8.7l6-6M10.6 5.3l2 2',
  settings:
    'M2 4.8h7M12.6 4.8H14M2 11.2h1.4M7 11.2h7M9.2 4.8a1.7 1.7 0 1 0 3.4 0 1.7 1.7 0 0 0-3.4' +
    ' 0zM3.5 11.2a1.7 1.7 0 1 0 3.4 0 1.7 1.7 0 0 0-3.4 0z',
  accounts:
    'M6 7.4a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.8 13.4c.3-2.4 2-3.7 4.2-3.7s3.9 1.3 4.2' +
    ' 3.7M10.8 2.7a2.5 2.5 0 0 1 0 4.5M12 10c1.3.6 2 1.8 2.2 3.4',
  tasks: 'M2 3.2h12v9.6H2zM5 3.2v9.6M11 3.2v9.6M2 8h12',
  boxes: 'M2.5 2.5h11v4.6h-11zM2.5 8.9h11v4.6h-11zM5 4.8h.1M5 11.2h.1M8 4.8h3M8 11.2h3',
  providers: 'M1.8 8.2h2.9l1.8-4.9 3 9.4 1.8-4.5h2.9',
  reference:
    'M3 2.5h4.2A1.8 1.8 0 0 1 8 4v9.5a1.6 1.6 0 0 0-1.4-1H3zM13 2.5H8.8A1.8 1.8 0 0 0 8 4v9.5' +
    'a1.6 1.6 0 0 1 1.4-1H13z',
  document: 'M3.5 2.5h9v11h-9zM5.8 5.6h4.4M5.8 8h4.4M5.8 10.4h2.6',
  enter: 'M10 2.5h3.2v11H10M2.8 8h7M7 5l3 3-3 3',
  audit: 'M3.5 2h9v12h-9zM6 5.2h4M6 8h4M6 10.8h2.4',
  ledger: 'M3 2.2h10v11.6l-1.7-1-1.6 1-1.7-1-1.7 1-1.6-1-1.7 1zM5.6 5.6h4.8M5.6 8.4h4.8',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  plus: 'M8 3v10M3 8h10',
  out: 'M6 2.5H2.8v11H6M10.3 5l3 3-3 3M13 8H6',
  menu: 'M2 4h12M2 8h12M2 12h12',
  image: 'M2 3h12v10H2zM2 11l3.4-3.4 3 3 2-2L14 12M10.2 6.4h.1',
  download: 'M8 2v8M4.8 7.2L8 10.4l3.2-3.2M2.5 13.5h11',
} as const;

export type IconName = keyof typeof STROKES;

/** An icon beside text with the same meaning. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" fill="none" aria-hidden="true">
      <path
        d={STROKES[name]}
        stroke="currentColor"
        stroke-width="1.4"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

/** The logo: a toll barrier. */
export function Mark(): JSX.Element {
  return (
    <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <rect fill="var(--ink)" width="24" height="24" rx="6.5" />
      <rect fill="var(--canvas)" x="8" y="8" width="12" height="3.6" rx="1" />
      <path fill="var(--series-2)" d="M10.8 8h2.6l-1.7 3.6H9.1zM16 8h2.6l-1.7 3.6h-2.6z" />
      <rect fill="var(--series-2)" x="4.6" y="5.8" width="3.4" height="13" rx="1.3" />
    </svg>
  );
}
