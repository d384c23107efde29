// Shapes of sign-in by a wallet.

import Type from 'typebox';
import { families } from '../../../core/families.ts';
import { dateTime, input, named, oneOf } from '../schemas/common.ts';
import { words } from '../schemas/identity.ts';
import { purpose } from './schemas.ts';

export const askText = named(
  'AskText',
  input({
    family: oneOf(families),
    address: words.address,
    purpose,
    chainId: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'of an EVM wallet: the chain it is on; the first that is served unless told',
      }),
    ),
  }),
);

export const textToSign = named(
  'TextToSign',
  Type.Object({
    address: Type.String({ description: 'in its canonical form' }),
    message: Type.String({ description: 'to be signed as it is: docs/signing.md' }),
    expiresAt: dateTime,
  }),
);

export const giveSignature = named('GiveSignature', input({ family: oneOf(families), ...words }));
