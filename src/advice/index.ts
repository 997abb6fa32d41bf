import type { FinishedFile } from '../config/load.js';
import type { ConfigFault } from '../core/config-fault.js';
import { hideSecrets } from '../yaml/secrets.js';
import * as addresses from './addresses.js';
import type { Advice, Warning } from './advice.js';
import { lostPath } from './endpoints.js';
import { partialFilter } from './filters.js';
import { missingClass } from './missing-class.js';
import * as models from './models.js';
import { priceMagnitude } from './price-magnitude.js';
import { dearTier, freeModel, offListPrice } from './price-off-list.js';
import { priceOrder } from './price-order.js';
import * as secrets from './secrets.js';
import * as settings from './settings.js';
import { audioPrice, minutePrice } from './sound-prices.js';
import * as unknown from './unknown-model.js';

/** All rules; at most forty. A rule that saves neither money, a secret nor a first hour goes. */
export const ADVICE: readonly Advice[] = [
  secrets.secretInClear,
  secrets.placeholder,
  secrets.keyOfAnother,
  secrets.hostOfAnother,
  secrets.badCredentials,
  secrets.insecureUrl,
  addresses.noTls,
  addresses.localPublicUrl,
  addresses.publicMetrics,
  addresses.openNetwork,
  addresses.ownAddress,
  addresses.basePath,
  settings.smallLimit,
  settings.shortTimeout,
  settings.emptiedFolder,
  settings.muchCredit,
  settings.openCredit,
  settings.operatorShutOut,
  settings.billedAbort,
  unknown.unknownModel,
  unknown.prefixedModel,
  unknown.otherModel,
  unknown.patternModel,
  models.otherWork,
  models.mixedVectors,
  models.lowImageTokens,
  models.lowImageOutput,
  models.highMaxTokens,
  models.unpricedTool,
  models.simulatedFallback,
  offListPrice,
  freeModel,
  dearTier,
  priceMagnitude,
  priceOrder,
  missingClass,
  audioPrice,
  minutePrice,
  lostPath,
  partialFilter,
];

/** The faults of a configuration without errors, with the warnings of all rules. */
export async function advise(view: FinishedFile): Promise<ConfigFault[]> {
  const { source } = view;
  for (const rule of ADVICE) {
    for await (const warning of rule.check(view)) addWarning(view, rule.code, warning);
  }
  return source.report.sorted(source.file);
}

function addWarning({ source }: FinishedFile, code: string, warning: Warning): void {
  const { message, hint = '' } = warning;
  const words = { code, message, hint, severity: 'warning' } as const;
  if ('place' in warning) {
    const [shown = '', shown_hint = ''] = [message, hint].map((text) => hideSecrets(text, ''));
    source.report.add({ ...words, ...warning.place, message: shown, hint: shown_hint });
    return;
  }
  const { pointer, at, source: own = source } = warning;
  const wrong = { ...words, ...(at && { at }) };
  if (warning.as_written) own.faultAsWritten(pointer, wrong);
  else own.fault(pointer, wrong);
}
