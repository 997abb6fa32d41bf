import type { BoxReport } from '../../src/schema-types/box-report.js';

/** What a box of another machine says of itself. */
export function boxReport(said: Partial<BoxReport> = {}): BoxReport {
  const taken = (value: string) => ({ value, since_ms: 0 });
  return {
    host: 'web2',
    listen: '10.0.0.2:8080',
    main_pid: 1,
    health: 'ready',
    clock_offset_ms: 0,
    equal: { version: taken('9.9.9'), configuration: taken('c2'), prices: taken('p2') },
    ...said,
  };
}
