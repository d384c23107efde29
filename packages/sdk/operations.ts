// Calls of the operations that a description names: the description types the parameters and the
// answer of each, so no shape is written twice.

import { call, type HttpOptions, type Request } from './http.ts';

export type CallOptions = Pick<Request, 'idempotencyKey' | 'signal'>;

/** The operations of a generated module, by method and path. */
type Table = Readonly<Record<string, { readonly answer: unknown }>>;
export type QueryOf<All, K extends keyof All> = All[K] extends { query?: infer Q }
  ? NonNullable<Q>
  : never;
export type BodyOf<All, K extends keyof All> = All[K] extends { body?: infer B }
  ? NonNullable<B>
  : never;
type Given<All, K extends keyof All> = Omit<All[K], 'answer'>;
/** The operations that nothing else need be given to. */
type WithOnly<All, Needed> = {
  [K in keyof All]: Needed extends Given<All, K> ? K & string : never;
}[keyof All];
/** As an operation may be given it, whichever it is. */
type AnyGiven = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Request['query'] | undefined;
  readonly body?: unknown;
};

/**
 * `isOnce`: the operations that can succeed once, and so are not tried again. `routed`: the
 * operation that is asked in its place; throws where it cannot be asked.
 */
export function operationsOf<All extends Table>(
  options: HttpOptions,
  isOnce: (method: Request['method'], operation: string) => boolean,
  routed: (operation: string) => string = (operation) => operation,
) {
  type Name = keyof All & string;
  const ask = async <K extends Name>(
    operation: K,
    how: CallOptions,
    given: Given<All, K>,
  ): Promise<All[K]['answer']> => {
    const { path = {}, query, body } = given as AnyGiven;
    const [method, template] = routed(operation).split(' ') as [Request['method'], string];
    return call(options, {
      ...how,
      method,
      // An id of the market's, however odd, must not leave its place.
      path: template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(path[name] ?? '')),
      once: isOnce(method, operation),
      query,
      body,
    });
  };
  const given = <K extends Name>(parts: AnyGiven) => parts as Given<All, K>;
  return {
    ask,
    plain:
      <K extends WithOnly<All, object>>(operation: K) =>
      (how: CallOptions = {}) =>
        ask(operation, how, given({})),
    byId:
      <K extends WithOnly<All, { path: { id: string } }>>(operation: K) =>
      (id: string, how: CallOptions = {}) =>
        ask(operation, how, given({ path: { id } })),
    list:
      <K extends WithOnly<All, object>>(operation: K) =>
      (query?: QueryOf<All, K>, how: CallOptions = {}) =>
        ask(operation, how, given({ query })),
    byQuery:
      <K extends Name>(operation: K) =>
      (query: QueryOf<All, K>, how: CallOptions = {}) =>
        ask(operation, how, given({ query })),
    send:
      <K extends Name>(operation: K) =>
      (body: BodyOf<All, K>, how: CallOptions = {}) =>
        ask(operation, how, given({ body })),
  };
}
