import type { Bill } from '../billing/bill.js';
import { priceAtTime } from '../billing/rate-card.js';
import type { Model, Price, Upstream } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import { setTier } from '../core/service-tiers.js';
import { withDefaultFields } from './default-fields.js';
import type { Modality, RequestFormat } from './modality.js';
import type { PaidAnswer, ReadMedia, SendContext, Work } from './work.js';

/** The facts by which a reply is billed. */
export interface UnaryTerms<Call> {
  call: Call;
  model: Model;
  provider: Provider;
  /** The prices of the hour in which the call to the upstream began. */
  price: Price;
  /** The service tier that the operator asks for. */
  asked_tier: string | undefined;
  hold_nano: bigint | null;
}

interface UnaryFormat<Call> extends RequestFormat {
  /** Fits a body to a model. `ignored` names the fields that were left out. */
  read(body: object, model: Model): { call: Call; ignored: readonly string[] };
}

/** A modality whose work is one call to one upstream: each part that differs from the others. */
interface UnaryModality<Format, Call, Reply> {
  /** Its name, under which upstreams have default fields for it. */
  name: string;
  formats: readonly (Format & UnaryFormat<Call>)[];
  /** The upstreams that serve the call; without it, all of the model. */
  upstreamsOf?(call: Call, model: Model): readonly Upstream[];
  /** See `Work.repeatable`; without it, each answer can be stored. */
  isRepeatable?(call: Call): boolean;
  /** See `Work.bills_errors`. */
  bills_errors?: true;
  /** The memory of the answer, which is reserved before the call is sent. */
  answerBytes?(call: Call): number;
  /** See `Work.measure`. Resolves with the call as the media turn out to be. */
  measure?(
    call: Call,
    model: Model,
  ): ((read: ReadMedia, upstreams: readonly Upstream[]) => Promise<Call>) | undefined;
  maxCost(call: Call, model: Model, upstreams: readonly Upstream[]): bigint;
  /** See `Work.maxTokens`. */
  maxTokens?(call: Call): number;
  /** Calls one upstream, once. Throws `UpstreamError`. */
  send(call: Call, upstream: Upstream, context: SendContext): Promise<Reply>;
  /** The answer to the client, with its bill. */
  answer(reply: Reply, terms: UnaryTerms<Call>, format: Format, context: SendContext): PaidAnswer;
  /** See `Work.unansweredBill`. */
  unansweredBill?: (terms: UnaryTerms<Call>) => Promise<Bill>;
}

/** The plan of such a modality. */
export function unaryPlan<Format, Call, Reply>(
  modality: UnaryModality<Format, Call, Reply>,
): Modality['plan'] {
  return ({ format: name, body }, model) => {
    const format = modality.formats.find((one) => one.name === name);
    if (!format) throw new Error(`No format is called ${name}.`);
    const parts = partsOf(modality, format, body, model);
    const upstreams = model.upstreams.filter((one) =>
      parts.some((part) => part.upstreams.has(one)),
    );
    const callFor = (upstream: Upstream): Call => partOf(parts, upstream).call;
    let isReserved = false;
    let began_ms = 0;
    const termsOf = (upstream: Upstream, { hold }: SendContext): UnaryTerms<Call> => ({
      call: callFor(upstream),
      model,
      provider: upstream.provider,
      price: priceAtTime(upstream.price, began_ms),
      asked_tier: setTier(upstream),
      hold_nano: hold.amount_nano,
    });
    const { unansweredBill } = modality;
    const maxTokens = modality.maxTokens?.bind(modality);
    const first = partOf(parts, upstreams[0]);
    const work: Work = {
      upstreams,
      ignored: first.ignored,
      repeatable: modality.isRepeatable?.(first.call) ?? true,
      bills_errors: modality.bills_errors ?? false,
      measure: parts.some(({ measured }) => measured)
        ? async (media) => {
            for (const part of parts) {
              const own = work.upstreams.filter((one) => part.upstreams.has(one));
              if (part.measured) part.call = await part.measured(media, own);
            }
          }
        : undefined,
      maxCost: () =>
        parts
          .map((part) => {
            const own = work.upstreams.filter((one) => part.upstreams.has(one));
            return own.length === 0 ? 0n : modality.maxCost(part.call, model, own);
          })
          .reduce((most, cost) => (cost > most ? cost : most)),
      send: async (upstream, context) => {
        const call = callFor(upstream);
        const bytes = modality.answerBytes?.(call) ?? 0;
        if (bytes > 0 && !isReserved) context.client.memory?.reserve(bytes);
        isReserved = true;
        began_ms = context.services.now();
        const reply = await modality.send(call, upstream, context);
        return modality.answer(reply, termsOf(upstream, context), format, context);
      },
      ...(maxTokens && { maxTokens: () => Math.max(...parts.map(({ call }) => maxTokens(call))) }),
      ...(unansweredBill && {
        unansweredBill: (upstream, context) => unansweredBill(termsOf(upstream, context)),
      }),
    };
    return work;
  };
}

/** The call of the upstreams that have the same default fields. */
interface Part<Call> {
  upstreams: ReadonlySet<Upstream>;
  call: Call;
  ignored: readonly string[];
  measured: ((read: ReadMedia, upstreams: readonly Upstream[]) => Promise<Call>) | undefined;
}

/**
 * Reads the body once for all upstreams with the same default fields. Throws `GatewayError` if none
 * takes it.
 */
function partsOf<Format, Call, Reply>(
  modality: UnaryModality<Format, Call, Reply>,
  format: UnaryFormat<Call>,
  body: object,
  model: Model,
): Part<Call>[] {
  const defaults = new Set(model.upstreams.map((upstream) => upstream.default));
  return [...defaults].map((fields) => {
    const { passthrough } = model;
    const whole = withDefaultFields(body, format.name, fields?.[modality.name], passthrough);
    const { call, ignored } = format.read(whole, model);
    const able = modality.upstreamsOf?.(call, model) ?? model.upstreams;
    return {
      upstreams: new Set(able.filter((one) => one.default === fields)),
      call,
      ignored,
      measured: modality.measure?.(call, model),
    };
  });
}

function partOf<Call>(parts: readonly Part<Call>[], upstream: Upstream | undefined): Part<Call> {
  const found = parts.find((part) => upstream && part.upstreams.has(upstream)) ?? parts[0];
  if (!found) throw new Error('The model has no upstream.');
  return found;
}
