import { fuzz } from './fuzz.js';

/** `npm run fuzz -- [REQUESTS] [SEED]` */
const [requests = '200000', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
console.log(`${requests} requests, seed ${seed}`);
const report = await fuzz({
  requests: Number(requests),
  seed: Number(seed),
  progress: (done) => {
    if (done % 20_000 === 0) console.log(`${done} requests are done`);
  },
});
console.log(JSON.stringify(report, undefined, 2));
