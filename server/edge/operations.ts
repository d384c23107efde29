// What a route declares about itself; the API description is generated from these.

import type { TSchema } from 'typebox';
import type { Scope } from '../../core/scopes.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export type Operation = {
  readonly method: Method;
  /** Fastify's spelling: `/v1/rfqs/:id`. */
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly access: 'key' | 'open' | 'session' | 'browser';
  readonly scope?: Scope | undefined;
  readonly params?: TSchema | undefined;
  readonly query?: TSchema | undefined;
  readonly body?: TSchema | undefined;
  readonly replies: Readonly<Record<number, TSchema>>;
  /** What the answers of an operation that has several mean, by status. */
  readonly outcomes?: Readonly<Record<number, string>> | undefined;
};
