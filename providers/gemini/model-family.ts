/** Of the families before Gemini 3, which signs its function calls and thinks by levels. */
const OLDER = /gemma|learnlm|gemini-(?:[a-z]{1,32}-){0,4}[12](?:[.-]|$)|gemini-exp/u;

/** Of these only the 2.5 models think. */
const THINKS = /gemini-(?:[a-z]{1,32}-){0,4}2\.5(?!.{0,64}-image)/u;

/** Whether a model is Gemini 3 or newer. */
export function isGemini3(model: string): boolean {
  return !OLDER.test(model);
}

/** Whether a model takes a thinking budget or level. */
export function canThink(model: string): boolean {
  return isGemini3(model) || THINKS.test(model);
}

/** The larger models, which cannot be kept from thinking. */
export function isPro(model: string): boolean {
  return /-pro\b/u.test(model);
}
