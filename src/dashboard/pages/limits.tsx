import type { ComponentChildren, JSX } from 'preact';
import { leftOf, type Limited } from '../../actions/shapes.js';
import { perWindow, type AllowanceState, type Rates } from '../../core/limits.js';
import { formatDollars } from '../../lib/money.js';
import { capitalize, formatAmount, formatCount } from './formatting.js';
import { Ago, Card } from './parts.js';

/** A key or an account. */
type WithLimits = Limited<{ rates: Rates | null }>;

export function hasLimits({ allowances, rates }: WithLimits): boolean {
  return allowances.length > 0 || rates !== null;
}

/** What is left of each allowance and when it returns, and the rates, in a cell of a table. */
export function LimitHints({ of, now_ms }: { of: WithLimits; now_ms: number }): JSX.Element {
  return (
    <>
      {of.allowances.map((state) => (
        <div class="hint" key={state.window}>
          {state.window}: <Left of={state} now_ms={now_ms} />
        </div>
      ))}
      {ratesOf(of).map(({ name, rate }) => (
        <div class="hint" key={name}>
          {name}: {rate}
        </div>
      ))}
    </>
  );
}

/** The limits of an account, which all its keys share. */
export function LimitsCard(props: {
  of: WithLimits;
  now_ms: number;
  about: string;
  actions?: ComponentChildren;
}): JSX.Element {
  const { of, now_ms, about, actions } = props;
  return (
    <Card title="Limits" {...{ about, actions }}>
      {!hasLimits(of) && <p class="soft">No allowances and no rates.</p>}
      {hasLimits(of) && (
        <dl class="facts">
          {of.allowances.map((state) => (
            <>
              <dt>{capitalize(perWindow(state.window))}</dt>
              <dd>
                <Left of={state} now_ms={now_ms} />
              </dd>
            </>
          ))}
          {ratesOf(of).map(({ name, rate }) => (
            <>
              <dt>{capitalize(name)}</dt>
              <dd>{rate}</dd>
            </>
          ))}
        </dl>
      )}
    </Card>
  );
}

function Left({ of, now_ms }: { of: AllowanceState; now_ms: number }): JSX.Element {
  const { amount_nano, extra_nano, extra_until_ms, ends_ms } = of;
  return (
    <>
      {formatAmount(leftOf(of))} of {formatAmount(amount_nano + extra_nano)} left
      {ends_ms > 0 && (
        <div>
          returns <Ago at_ms={ends_ms} now_ms={now_ms} />
        </div>
      )}
      {extra_until_ms !== null && (
        <div>
          with {formatAmount(extra_nano)} more, which end{' '}
          <Ago at_ms={extra_until_ms} now_ms={now_ms} />
        </div>
      )}
    </>
  );
}

function ratesOf({ rates }: WithLimits): { name: string; rate: string }[] {
  return Object.entries(rates ?? {}).map(([name, rate]) => ({
    name: name.replaceAll('_', ' '),
    rate: formatCount(rate),
  }));
}

/** The limits as the fields of a form that changes them. */
export function limitValues({ allowances, rates }: WithLimits): [name: string, value: string][] {
  const amounts = allowances.map(
    ({ window, amount_nano }) => `${window}=${formatDollars(amount_nano)}`,
  );
  return [
    ['allowances', amounts.join(' ')],
    ...Object.entries(rates ?? {}).map(([name, rate]): [string, string] => [
      `rates.${name}`,
      String(rate),
    ]),
  ];
}

/**
 * The change of allowances that a form asks for: it shows all of them, so that those which are left
 * out are taken away.
 */
export function changedAllowances(
  before: WithLimits,
  sent: Readonly<Record<string, string | null>> = {},
): Record<string, string | null> {
  return { ...Object.fromEntries(before.allowances.map(({ window }) => [window, null])), ...sent };
}
