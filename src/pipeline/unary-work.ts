import type { Bill } from '../billing/bill.js';
import type { Model, Price, Upstream } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import type { Modality, RequestFormat } from './modality.js';
import type { PaidAnswer, ReadMedia, SendContext, Work } from './work.js';

/** The facts by which a reply is billed. */
export interface UnaryTerms<Call> {
  call: Call;
  model: Model;
  provider: Provider;
  price: Price;
  hold_nano: bigint | null;
}

interface UnaryFormat<Call> extends RequestFormat {
  /** Fits a body to a model. `ignored` names the fields that were left out. */
  read(body: object, model: Model): { call: Call; ignored: readonly string[] };
}

/** A modality whose work is one call to one upstream: each part that differs from the others. */
interface UnaryModality<Format, Call, Reply> {
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
    const { ignored, ...read } = format.read(body, model);
    let { call } = read;
    let isReserved = false;
    const termsOf = ({ provider, price }: Upstream, { hold }: SendContext): UnaryTerms<Call> => {
      return { call, model, provider, price, hold_nano: hold.amount_nano };
    };
    const measured = modality.measure?.(call, model);
    const { unansweredBill } = modality;
    const maxTokens = modality.maxTokens?.bind(modality);
    const work: Work = {
      upstreams: modality.upstreamsOf?.(call, model) ?? model.upstreams,
      ignored,
      repeatable: modality.isRepeatable?.(call) ?? true,
      bills_errors: modality.bills_errors ?? false,
      measure: measured && (async (media) => void (call = await measured(media, work.upstreams))),
      maxCost: () => modality.maxCost(call, model, work.upstreams),
      send: async (upstream, context) => {
        const bytes = modality.answerBytes?.(call) ?? 0;
        if (bytes > 0 && !isReserved) context.client.memory?.reserve(bytes);
        isReserved = true;
        const reply = await modality.send(call, upstream, context);
        return modality.answer(reply, termsOf(upstream, context), format, context);
      },
      ...(maxTokens && { maxTokens: () => maxTokens(call) }),
      ...(unansweredBill && {
        unansweredBill: (upstream, context) => unansweredBill(termsOf(upstream, context)),
      }),
    };
    return work;
  };
}
