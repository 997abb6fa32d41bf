/** A stage's option is wrong: a sentence, and the right words where they are known. */
export class OptionError extends Error {
  override name = 'OptionError';
  constructor(
    message: string,
    readonly choices: readonly string[] = [],
  ) {
    super(message);
  }
}
