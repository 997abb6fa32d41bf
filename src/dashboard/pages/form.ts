import { readFormBody, checking } from '../../http/request-body.js';
import { compilerOfShipped, readShippedSchema } from '../../lib/schemas.js';
import { GatewayError } from '../../core/errors.js';
import type { DashboardContext } from '../types.js';

const FORM_BYTES = 64 * 1024;

const ajv = compilerOfShipped({ verbose: true });

/** What is wrong with a form, in words for the page that shows it again. */
export interface Fault {
  message: string;
  /** The field at fault. */
  param: string | null;
}

/** A form as it was sent, with what was wrong with it. */
export interface FormState {
  values: URLSearchParams;
  fault?: Fault;
}

export const EMPTY_FORM: FormState = { values: new URLSearchParams() };

/** Throws `GatewayError` (400, 413) for what is no form. */
export function readForm(ctx: DashboardContext): Promise<URLSearchParams> {
  return readFormBody(ctx.req, FORM_BYTES);
}

/**
 * Holds the fields of a form to the same schema as the JSON body of the API; those that were left
 * empty count as left out. Throws `GatewayError` (400, naming the field).
 */
export function fieldsReader<T>(schema: string): (fields: Record<string, unknown>) => T {
  const check = checking(ajv.compile(readShippedSchema(schema)));
  return (fields) => {
    const filled = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
    check(filled);
    return filled as T;
  };
}

/** A field without the blanks around it. */
export function textOf(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').trim();
}

/** An amount of dollars, which people like to write with their sign. */
export function amountOf(form: URLSearchParams, name: string): string {
  return textOf(form, name).replace(/^(-?)\$/u, '$1');
}

/** Does what a form asks for, or shows it again with its fault, and what was written in it. */
export async function answerForm(
  ctx: DashboardContext,
  how: {
    act(form: URLSearchParams): Promise<void>;
    showAgain(state: FormState): Promise<void> | void;
  },
): Promise<void> {
  const values = await readForm(ctx);
  try {
    await how.act(values);
  } catch (error) {
    await how.showAgain({ values, fault: faultOf(error) });
  }
}

/** The fault of a form that was refused; anything else is thrown on. */
function faultOf(error: unknown): Fault {
  if (error instanceof GatewayError && error.status === 400) {
    return { message: error.message, param: error.param };
  }
  throw error;
}

/** What to say beside a field. */
export function saidOf({ fault }: FormState, name: string): string | undefined {
  return fault?.param === name ? fault.message : undefined;
}
