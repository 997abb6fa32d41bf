/** What `hold` answers: admitted, or what refuses it. */
export type HoldResult = { admitted: true } | HoldRefusal;

/** With the figures that explain a 402. A key that has `ended` was revoked, or has expired. */
export type HoldRefusal =
  | { admitted: false; because: 'balance'; balance_nano: bigint; held_nano: bigint }
  | {
      admitted: false;
      because: 'limit';
      limit_nano: bigint;
      spent_nano: bigint;
      held_nano: bigint;
    }
  | { admitted: false; because: 'ended' };
