import type { DashboardContext, Route, Visitor } from '../../types.js';
import { answerForm, EMPTY_FORM, type FormState } from '../form.js';

/** A form of operators. */
interface OperatorForm {
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
export function formRoutes({ page, action = page, show, act }: OperatorForm): Route[] {
  return [
    {
      method: 'GET',
      path: page,
      access: 'operator',
      answer: (ctx, visitor) => show(ctx, visitor, EMPTY_FORM),
    },
    {
      method: 'POST',
      path: action,
      access: 'operator',
      answer: (ctx, visitor) =>
        answerForm(ctx, {
          act: (form) => act(ctx, visitor, form),
          showAgain: (state) => show(ctx, visitor, state),
        }),
    },
  ];
}
