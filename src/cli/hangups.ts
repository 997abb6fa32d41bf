import { growInLargeSteps, restartWithHeapFlags } from './heap-flags.js';
import { catchHangups } from './signals.js';

if (process.argv[2] === 'serve') {
  restartWithHeapFlags();
  growInLargeSteps();
  catchHangups();
}
