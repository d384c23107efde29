// The words of the faucet's page, in the languages of the app.

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

const de: Readonly<Record<TextKey, string>> = {
  title: 'Faucet des Testmarkts',
  worthless: 'Diese Coins sind aus Testnetzen: sie sind nichts wert, und niemand kauft sie.',
  what: 'Coin',
  address: 'Deine Adresse',
  give: 'Gib mir Coins',
  each: 'Jede Adresse bekommt jeden davon einmal in 24 Stunden.',
  sent: '{amount} {symbol} sind unterwegs an {address}.',
  waits: '{amount} {symbol} für {address} sind signiert und gehen ab, sobald ein Node sie annimmt.',
  transaction: 'Transaktion {txid}',
  none: 'vorerst aufgebraucht',
  no_gift: 'Das hat der Faucet nicht.',
  bad_address: 'Das ist keine Adresse dieser Chain: {why}',
  own_address: 'Das ist die Adresse des Faucets. Schick zurück, was du nicht mehr brauchst.',
  address_limit: 'Diese Adresse hat ihren Teil bekommen. Mehr gibt es in {time}. Es war {txid}',
  client_limit: 'Dein Netz hat seinen Teil bekommen. Mehr gibt es in {time}.',
  daily_cap:
    'Der Faucet hat davon alles gegeben, was er in 24 Stunden gibt. Versuch es in {time} wieder.',
  busy: 'Viele wollen gerade Coins. Versuch es in einer Minute wieder.',
  unavailable: 'Das kann der Faucet gerade nicht geben. Versuch es später wieder.',
  too_many: 'Zu viele Versuche. Versuch es in {time} wieder.',
  elsewhere: 'Das kam von einer anderen Seite. Füll das Formular hier aus.',
  hours: '{n} Std.',
  minutes: '{n} Min.',
};

const all = { en, de } as const;
export type Language = keyof typeof all;

/** The language is among those that the reader's browser names first. */
export function languageOf(accepted: string): Language {
  const wanted = accepted.split(',').map((each) => each.trim().slice(0, 2).toLowerCase());
  return wanted.find((each) => each === 'de' || each === 'en') === 'de' ? 'de' : 'en';
}

export type Words = (key: TextKey, values?: Readonly<Record<string, string>>) => string;

export function wordsOf(language: Language): Words {
  return (key, values = {}) =>
    all[language][key].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}
