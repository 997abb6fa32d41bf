/** The parameters of a request's path, decoded. */
export type PathParams = Readonly<Record<string, string | undefined>>;

/** The parameters that the router found in the path; none for a path without parameters. */
export function paramsOf(ctx: object): PathParams {
  return (ctx as { params?: PathParams }).params ?? {};
}
