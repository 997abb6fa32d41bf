import { AGENTS } from './agents.js';
import { installAndDrive } from './drive.js';
import { NODE } from './install.js';

/** `npm run test:agents`: installs coding agents, then drives them. */
await installAndDrive({
  packages: [NODE, ...AGENTS.map((agent) => agent.package)],
  variable: 'TOLLGATE_TEST_AGENTS',
  tests: 'test/agents/*.agent.ts',
});
