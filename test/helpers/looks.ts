/** How the pages are looked at: dark on a phone; `TOLLGATE_TEST_LOOKS=all` takes all four. */
export const LOOKS = [
  { colorScheme: 'dark', width: 390 },
  ...(process.env['TOLLGATE_TEST_LOOKS'] === 'all'
    ? ([
        { colorScheme: 'light', width: 1280 },
        { colorScheme: 'dark', width: 1280 },
        { colorScheme: 'light', width: 390 },
      ] as const)
    : []),
] as const;
