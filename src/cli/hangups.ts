import { catchHangups } from './signals.js';

if (process.argv[2] === 'serve') catchHangups();
