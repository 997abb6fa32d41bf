import { readFormBody } from '../../http/request-body.js';
import { GatewayError } from '../../core/errors.js';
import type { DashboardContext, Route, Visitor } from '../types.js';

const FORM_BYTES = 64 * 1024;

/** The error of a refused form. */
export interface Fault {
  message: string;
  /** The field at fault. */
  param: string | null;
}

/** A sent form with its fault. */
export interface FormState {
  values: URLSearchParams;
  fault?: Fault;
}

const EMPTY_FORM: FormState = { values: new URLSearchParams() };

/** Throws `GatewayError` (400, 413) if the body is not a form. */
export function readForm(ctx: DashboardContext): Promise<URLSearchParams> {
  return readFormBody(ctx.req, FORM_BYTES);
}

/** The value of a field, trimmed. */
export function textOf(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}

/** An amount of dollars, with or without the dollar sign. */
export function amountOf(form: URLSearchParams, name: string): string {
  return textOf(form, name).replace(/^(-?)\$/u, '$1');
}

/** A form and its page. */
interface FormPage {
  access: 'session' | 'operator';
  /** The path of the page with the form. */
  page: string;
  /** The path to which it is sent, where that is another one. */
  action?: string;
  /** Shows the page; after a refusal with the fault and the sent values. */
  show: (
    ctx: DashboardContext,
    visitor: Visitor | undefined,
    state: FormState,
  ) => Promise<void> | void;
  /** Acts on the form, and answers. A `GatewayError` (400) shows the form again. */
  act: (
    ctx: DashboardContext,
    visitor: Visitor | undefined,
    form: URLSearchParams,
  ) => Promise<void>;
}

/** The routes of a form: one shows it, the other one takes the submission. */
export function formRoutes({ access, page, action = page, show, act }: FormPage): Route[] {
  return [
    {
      method: 'GET',
      path: page,
      access,
      answer: (ctx, visitor) => show(ctx, visitor, EMPTY_FORM),
    },
    {
      method: 'POST',
      path: action,
      access,
      async answer(ctx, visitor) {
        const values = await readForm(ctx);
        try {
          await act(ctx, visitor, values);
        } catch (error) {
          await show(ctx, visitor, { values, fault: faultOf(error) });
        }
      },
    },
  ];
}

/** The fault of a refused form; rethrows any other error. */
function faultOf(error: unknown): Fault {
  if (error instanceof GatewayError && error.status === 400) {
    return { message: error.message, param: error.param };
  }
  throw error;
}

/** The error message to show beside a field. */
export function faultMessage({ fault }: FormState, name: string): string | undefined {
  return fault?.param === name ? fault.message : undefined;
}
