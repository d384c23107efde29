// The words of the faucet's page.

const en = {
  title: 'Faucet of the test market',
  worthless: 'These coins are of test networks: they are worth nothing, and nobody buys them.',
  what: 'Coin',
  address: 'Your address',
  give: 'Give me coins',
  each: 'Each address gets each of them once in 24 hours.',
  sent: '{amount} {symbol} are on their way to {address}.',
  waits: '{amount} {symbol} for {address} are signed, and are sent as soon as a node takes them.',
  transaction: 'Transaction {txid}',
  none: 'used up for now',
  no_gift: 'The faucet does not have that.',
  bad_address: 'This is no address of that chain: {why}',
  own_address: 'That is the faucet’s own address. Send back what you do not need any more.',
  address_limit: 'This address has had its part. It gets more in {time}. It was {txid}',
  client_limit: 'Your network has had its part. It gets more in {time}.',
  daily_cap: 'The faucet has given all of that which it gives in 24 hours. Try again in {time}.',
  busy: 'Many want coins now. Try again in a minute.',
  unavailable: 'The faucet cannot give that now. Try again later.',
  too_many: 'Too many tries. Try again in {time}.',
  elsewhere: 'That came from another page. Fill in the form here.',
  hours: '{n} h',
  minutes: '{n} min',
} as const;

export type TextKey = keyof typeof en;

export type Words = (key: TextKey, values?: Readonly<Record<string, string>>) => string;

export const words: Words = (key, values = {}) =>
  en[key].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
