type JsonScalar = string | number | boolean | null;

export type Json = JsonScalar | readonly Json[] | { readonly [name: string]: Json };

export type JsonObject = { readonly [name: string]: Json };
