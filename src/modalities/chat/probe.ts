import type { Bill } from '../../billing/bill.js';
import type { Model, Upstream } from '../../core/model.js';
import { UpstreamError } from '../../core/upstream-error.js';
import type { ProbeContext } from '../../pipeline/modality.js';
import { replyBill } from './price.js';
import { chatRequest } from './formats/chat-completion.js';
import type { UsageReport } from './usage-report.js';
import { sendChat, visiblePartsOf } from './planned-chat.js';

/** The output limit for an upstream that takes no limit of one token. */
const LOW_LIMIT = 16;

/**
 * Sends a chat call with a limit of one token, or of a few if the upstream's wire takes no lower
 * limit. Throws `UpstreamError` if the upstream fails.
 */
export async function probeChat(
  model: Model,
  upstream: Upstream,
  context: ProbeContext,
): Promise<Bill> {
  try {
    return await probeWith(1, model, upstream, context);
  } catch (error) {
    const isLimit = error instanceof UpstreamError && error.param === 'max_tokens';
    if (!isLimit || error.fault !== 'unsupported') throw error;
    return probeWith(LOW_LIMIT, model, upstream, context);
  }
}

async function probeWith(
  max_tokens: number,
  model: Model,
  upstream: Upstream,
  { configuration, network, client }: ProbeContext,
): Promise<Bill> {
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const request = chatRequest({ model: model.id, messages, max_tokens }, model);
  const { call } = request;
  const head = { id: 'chatcmpl-probe', created: 0, model: model.id };
  const { limits } = configuration;
  const reports: UsageReport[] = [];
  const attempt = {
    call,
    upstream,
    head,
    visible: visiblePartsOf(model, request),
    limits,
    client,
    reports,
  };
  const answer = await sendChat(attempt, network);
  if (answer.kind !== 'chat') {
    throw new UpstreamError('broken', 'The upstream began a stream that was not asked for.');
  }
  const terms = { request, model, upstream, hold_nano: null, reports };
  return replyBill(answer.reply, terms);
}
