// Texts of the coins that network fees are paid in. `{need}`, `{has}` and `{missing}` are amounts
// with their unit, `{until}` and `{from}` local times.

import type { gas as english } from '../en/gas.ts';
import type { Words } from '../words.ts';

export const gas: Words<typeof english> = {
  'gas.title': 'Coins für Netzwerkgebühren',
  'gas.loading': 'Liest, was deine Wallets haben…',
  'gas.unread': 'Was deine Wallet auf {chain} hat, war nicht zu lesen: {why}',
  'gas.none': '{chain}: andere Coins sind nicht nötig. Gebühren gehen vom Betrag ab.',
  'gas.enough': '{chain}: deine Wallet hat genug. Nötig sind höchstens {need}, sie hat {has}.',
  'gas.address': 'Adresse',
  'gas.missing': 'Sie hat {has} und kann {need} brauchen. Sende {missing} an {address}.',
  'gas.amount_short': 'Deine Wallet auf {chain} hat zu wenig zum Geben',
  'gas.amount_short.why':
    '{address} hat {holds}, und du gibst {amount}. Hab dort {lacking} mehr, vor {until}. Sonst endet der Swap, und du verlierst nichts.',
  'gas.fund_short': 'Zu wenig auf {chain}, um zu sperren',
  'gas.fund_short.why':
    'Deine Wallet hat {has}. Zum Sperren, und zum Zurückholen, wenn der Swap scheitert, kann sie {need} brauchen. Sende {missing} an {address}, vor {until}. Sonst endet der Swap, und du verlierst nichts.',
  'gas.fund_signed': 'Der Markt zahlt die Gebühr fürs Sperren auf {chain}',
  'gas.fund_signed.why':
    'Deine Wallet hat {has}, also signiert sie nur einen Text. Der Markt sendet ihn kostenlos. Tut er es nicht, sende {missing} an {address}, vor {until}, oder lass den Swap enden: du verlierst nichts.',
  'gas.refund_short': 'Genug auf {chain} zum Sperren, zu wenig zum Zurückholen',
  'gas.refund_short.why':
    'Deine Wallet hat {has}, beides zusammen kann {need} brauchen. Scheitert der Swap, hab {missing} mehr bei {address}, ab {from}. Dann eilt es nicht.',
  'gas.claim_sent': 'Der Markt holt auf {chain} kostenlos für dich ab',
  'gas.claim_sent.why':
    'Deine Wallet hat {has}, das Abholen kann {need} brauchen. Darum sendet es der Markt und zahlt die Gebühr. Es kann nur an deine Adresse zahlen. Er erfährt das Geheimnis kurz vor allen anderen.',
  'gas.claim_sent.else':
    'Er kann ablehnen. Dann sagt diese App sofort, was fehlt, und es bleibt Zeit bis {back}. Um niemanden zu brauchen, sende vorher {missing} an {address}.',
  'gas.claim_short': 'Zu wenig auf {chain}, um abzuholen',
  'gas.claim_short.why':
    'Deine Wallet hat {has}, das Abholen kann {need} brauchen. Dieser Markt sendet dort nichts für dich. Sende {missing} an {address}, vor {until}. Vorher wird von dir nichts gesperrt, und nichts ist verloren.',

  'settlement.relay': 'Der Markt sendet es kostenlos für dich',
  'settlement.relay.why':
    'Deine Wallet hat zu wenig für die Netzwerkgebühr. Die Transaktion kann nur an {payTo} zahlen. Zeigen deine Nodes sie nicht binnen einer halben Minute, sagt diese Seite, was zu tun ist.',
  'settlement.left.refunds':
    'Signierte Rückzahlungen liegen beim Markt: er sendet sie, wenn sie fällig sind, auch wenn du weg bist.',
  'settlement.warn.gas': 'Deine Wallet auf {gasChain} hat zu wenig für die Netzwerkgebühr',
  'settlement.warn.gas.fund':
    'Sende ihr vor {fundBy}, was fehlt. Dann geht diese Seite von selbst weiter. Sonst ist nichts verloren.',
  'settlement.warn.gas.reveal':
    'Sende ihr vor {revealBy}, was fehlt. Dann holt diese Seite ab. Sonst kommen {gives} zu dir zurück.',
  'settlement.warn.gas.collect':
    'Sende ihr vor {otherRefundAt}, was fehlt, sonst kannst du {gets} verlieren. Dann holt diese Seite von selbst ab.',
  'settlement.warn.gas.refund':
    'Sende ihr, was für die Rückzahlung fehlt. Es eilt nicht: {gives} warten auf dich.',
  'settlement.warn.gas.refused':
    'Der Markt sollte für dich abholen und hat abgelehnt: {why}. Er wird jede halbe Minute neu gefragt.',
  'settlement.left.refund':
    'Bist du nach {refundAt} weg, kann der Markt deine Rückzahlung senden, nur an {address}. Verlass dich nicht darauf: er hat Grenzen.',
  'settlement.left.claim':
    'Bist du weg, wenn die andere Seite abgeholt hat, kann der Markt für dich abholen, nur an {payTo}. Verlass dich nicht darauf.',
  'settlement.warn.gas.cannot': 'Deine Wallet auf {gasChain} kann jetzt nicht sperren',
};
