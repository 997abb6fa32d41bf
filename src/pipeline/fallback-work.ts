import type { Bill } from '../billing/bill.js';
import type { Model, Upstream } from '../core/model.js';
import { ClientDisconnected, GatewayError } from '../core/errors.js';
import type { Answer, Fit, ReadMedia, SendContext, Work } from './work.js';

/** The same request, fitted to one of the models that may serve it. */
export interface ModelWork {
  model: Model;
  work: Work;
}

/**
 * The work of a model with those of its fallback models, whose upstreams come after its own. Each
 * keeps its own limits, fields and prices, so that the hold covers the most expensive.
 */
export class FallbackWork implements Work {
  upstreams: readonly Upstream[];
  /** The model whose upstream was called last. */
  served_by: Model;
  #parts: readonly ModelWork[];

  constructor(
    private readonly first: ModelWork,
    others: readonly ModelWork[],
  ) {
    this.#parts = [first, ...others];
    this.served_by = first.model;
    this.upstreams = upstreamsOfParts(this.#parts);
  }

  get home(): Upstream | undefined {
    return this.first.work.home;
  }

  get ignored(): readonly string[] {
    return this.first.work.ignored;
  }

  get adjusted(): readonly string[] {
    return this.first.work.adjusted ?? [];
  }

  get repeatable(): boolean {
    return this.first.work.repeatable;
  }

  get bills_errors(): boolean {
    return this.#parts.some(({ work }) => work.bills_errors);
  }

  get streams(): boolean {
    return this.first.work.streams === true;
  }

  openStream(context: SendContext): void {
    this.first.work.openStream?.(context);
  }

  /** A fallback model whose upstreams do not take the media is left out. */
  get measure(): Work['measure'] {
    if (!this.#parts.some(({ work }) => work.measure)) return undefined;
    return async (read: ReadMedia) => {
      const able: ModelWork[] = [];
      for (const part of this.#parts) {
        try {
          await part.work.measure?.(read);
          able.push(part);
        } catch (error) {
          if (part === this.first || !(error instanceof GatewayError)) throw error;
        }
      }
      this.#parts = able;
      this.upstreams = upstreamsOfParts(able);
    };
  }

  maxCost(): bigint {
    const costs = this.#parts.map(({ work }) => work.maxCost());
    return costs.reduce((most, cost) => (cost > most ? cost : most));
  }

  maxTokens(): number {
    return Math.max(...this.#parts.map(({ work }) => work.maxTokens?.() ?? 0));
  }

  fitting(available_nano: bigint): Fit | undefined {
    const fits = this.#parts.flatMap(({ work }) => work.fitting?.(available_nano) ?? []);
    if (fits.length < this.#parts.length) return undefined;
    return fits.toSorted((one, other) => one.value - other.value)[0];
  }

  lowerTo(fit: Fit): boolean {
    return this.#parts.every(({ work }) => work.lowerTo?.(fit));
  }

  send(upstream: Upstream, context: SendContext): Promise<Answer> {
    const { model, work } = this.#partOf(upstream);
    this.served_by = model;
    return work.send(upstream, context);
  }

  leftOutBy(upstream: Upstream): readonly string[] {
    return this.#partOf(upstream).work.leftOutBy?.(upstream) ?? [];
  }

  unansweredBill(upstream: Upstream, context: SendContext): Promise<Bill> {
    const { work } = this.#partOf(upstream);
    if (!work.unansweredBill) return Promise.reject(new ClientDisconnected());
    return work.unansweredBill(upstream, context);
  }

  #partOf(upstream: Upstream): ModelWork {
    const found = this.#parts.find(({ work }) => work.upstreams.includes(upstream));
    if (!found) throw new Error('No model of the request has this upstream.');
    return found;
  }
}

function upstreamsOfParts(parts: readonly ModelWork[]): Upstream[] {
  return parts.flatMap(({ work }) => work.upstreams);
}
