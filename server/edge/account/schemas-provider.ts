// Shapes of sign-in through an identity provider.

import Type from 'typebox';
import { input, named } from '../schemas/common.ts';
import { purpose } from './schemas.ts';

export const beginProvider = named(
  'BeginProvider',
  input({
    provider: Type.String({
      pattern: '^[a-z][a-z0-9-]{0,31}$',
      description: 'its id, of GET /account/ways',
    }),
    purpose,
  }),
);

export const providerBegun = named(
  'ProviderBegun',
  Type.Object({
    url: Type.String({ description: 'where the browser is to go: the page of the provider' }),
  }),
);
