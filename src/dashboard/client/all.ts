import { localiseTimes } from './times.js';
import { offerCopying } from './copy.js';
import { explainCharts } from './charts.js';

// The answer to a form must not be sent for again by a reload: a key would be made twice.
if (document.querySelector('[data-once]')) {
  history.replaceState(
    null,
    '',
    document.querySelector<HTMLElement>('[data-once]')?.dataset['once'],
  );
}
localiseTimes(document);
offerCopying(document);
explainCharts(document);
document
  .querySelector('.side [aria-current]')
  ?.scrollIntoView({ inline: 'center', block: 'nearest' });
