// Shapes of where an account is paid.

import Type from 'typebox';
import { families } from '../../../core/families.ts';
import { longestMessage } from '../../market/messages.ts';
import { dateTime, input, named, nullable, oneOf } from '../schemas/common.ts';

const family = oneOf(families);
const address = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'in any spelling of its family; answers write the canonical one',
});
const paid = Type.Boolean({
  description:
    'true: the family is paid there from then on; false: a swap may be told to pay there',
});
const signed = {
  message: Type.String({ minLength: 1, maxLength: longestMessage }),
  // A contract wallet signs with up to 8 192 bytes, in hex.
  signature: Type.String({ minLength: 1, maxLength: 16_386 }),
};

export const payouts = named(
  'Payouts',
  Type.Object({
    payouts: Type.Array(
      Type.Object({
        family,
        paid: nullable(Type.String({ description: 'paid unless a swap is told otherwise' })),
        receives: Type.Array(Type.String(), { description: 'may be named as where a swap pays' }),
        waiting: Type.Array(
          Type.Object({ address: Type.String(), fromAt: dateTime, paid: Type.Boolean() }),
        ),
        leaving: Type.Array(Type.Object({ address: Type.String(), at: dateTime }), {
          description: 'login wallets that are removed then, and paid until then',
        }),
      }),
    ),
  }),
);

export const beginPayout = named(
  'BeginPayout',
  input({
    family,
    address,
    paid,
    chainId: Type.Optional(
      Type.Integer({ minimum: 1, description: 'of an EVM wallet: the chain that it is on' }),
    ),
  }),
);

export const payoutBegun = named(
  'PayoutBegun',
  Type.Object({
    address: Type.String(),
    message: Type.String({ description: 'for the wallet that is to be paid' }),
    expiresAt: dateTime,
    voucher: nullable(
      Type.Object(
        { family, address: Type.String(), message: Type.String() },
        { description: 'for the wallet whose signature makes it count at once' },
      ),
    ),
    waitSeconds: Type.Integer({ description: 'how long it waits without that signature' }),
  }),
);

export const provePayout = named(
  'ProvePayout',
  input({ family, address, paid, ...signed, voucher: Type.Optional(input(signed)) }),
);

export const payoutChosen = named(
  'PayoutChosen',
  Type.Object({ family, address: Type.String(), paid, fromAt: dateTime }),
);

export const stopPayout = named('StopPayout', input({ family, address }));
