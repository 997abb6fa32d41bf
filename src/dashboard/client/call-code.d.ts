// The module of pages/call-code.ts is served beside these scripts.
export type Language = 'curl' | 'python' | 'node';
export const LANGUAGES: readonly Language[];
export const LANGUAGE_NAMES: Readonly<Record<Language, string>>;

export interface CodeCall {
  path: string;
  body: Readonly<Record<string, unknown>>;
  client?: { method: string; python: string; node: string };
}

export function codeOf(language: Language, call: CodeCall, public_url: string): string;
