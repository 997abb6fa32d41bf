import { explainCharts } from './charts.js';
import { offerCopying } from './copy.js';
import { showOnce } from './once.js';
import { localiseTimes } from './times.js';

showOnce(document);
localiseTimes(document);
offerCopying(document);
explainCharts(document);
document
  .querySelector('.side [aria-current]')
  ?.scrollIntoView({ inline: 'center', block: 'nearest' });
