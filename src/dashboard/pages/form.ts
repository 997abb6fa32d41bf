import { readFormBody } from '../../http/request-body.js';
import { checking } from '../../http/body-schema.js';
import { validatorOfShipped } from '../../lib/schemas.js';
import { GatewayError } from '../../core/errors.js';
import type { DashboardContext } from '../types.js';

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

export const EMPTY_FORM: FormState = { values: new URLSearchParams() };

/** Throws `GatewayError` (400, 413) if the body is not a form. */
export function readForm(ctx: DashboardContext): Promise<URLSearchParams> {
  return readFormBody(ctx.req, FORM_BYTES);
}

/**
 * Checks the fields of a form against the schema of the API's JSON body. Empty fields count as
 * absent. Throws `GatewayError` (400, naming the field).
 */
export function fieldsReader<T>(schema: string): (fields: Record<string, unknown>) => T {
  return (fields) => {
    const filled = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
    checking(validatorOfShipped(schema, 'input'))(filled);
    return filled as T;
  };
}

/** The value of a field, trimmed. */
export function textOf(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}

/** An amount of dollars, with or without the dollar sign. */
export function amountOf(form: URLSearchParams, name: string): string {
  return textOf(form, name).replace(/^(-?)\$/u, '$1');
}

/**
 * Runs the action of a form. After a refusal it shows the form again with the fault and the sent
 * values.
 */
export async function answerForm(
  ctx: DashboardContext,
  handlers: {
    act(form: URLSearchParams): Promise<void>;
    showAgain(state: FormState): Promise<void> | void;
  },
): Promise<void> {
  const values = await readForm(ctx);
  try {
    await handlers.act(values);
  } catch (error) {
    await handlers.showAgain({ values, fault: faultOf(error) });
  }
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
