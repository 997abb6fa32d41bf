import { isLong } from './long.js';

/** How the pages are looked at: dark on a phone, and in `npm run test:long` in all four ways. */
export const LOOKS = [
  { colorScheme: 'dark', width: 390 },
  ...(isLong
    ? ([
        { colorScheme: 'light', width: 1280 },
        { colorScheme: 'dark', width: 1280 },
        { colorScheme: 'light', width: 390 },
      ] as const)
    : []),
] as const;

/** The widths of what is done at each: on a phone, and in `npm run test:long` on a desk too. */
export const WIDTHS = isLong ? [1280, 390] : [390];
