import { installAndDrive } from '../agents/drive.js';
import { CLIENTS } from './clients.js';

/** `npm run test:clients`: installs client libraries of other languages, then has them call. */
await installAndDrive({
  packages: CLIENTS.map((client) => client.package),
  variable: 'TOLLGATE_TEST_CLIENTS',
  tests: 'test/clients/*.client.ts',
});
