import { explainCharts } from './charts.js';
import { offerCopying } from './copy.js';
import { keepLive } from './live.js';
import { showOnce } from './show-once.js';
import { sendOnce } from './send-once.js';
import { localiseTimes } from './times.js';

showOnce(document);
sendOnce(document);
localiseTimes(document);
offerCopying(document);
explainCharts(document);
keepLive(document);
