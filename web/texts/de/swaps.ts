// Texts of the list of swaps, and of the receipt of one.

import type { swaps as english } from '../en/swaps.ts';
import type { Words } from '../words.ts';

export const swaps: Words<typeof english> = {
  'swaps.title': 'Meine Swaps',
  'swaps.open': 'Offen',
  'swaps.ended': 'Beendet',
  'swaps.swap': 'Swap',
  'swaps.status': 'Status',
  'swaps.deadline': 'Nächste Frist',
  'swaps.none.title': 'Noch kein Swap',
  'swaps.none':
    'In diesem Browser wurde noch kein Swap vereinbart. Er erscheint hier, wenn beide Seiten angenommen haben.',
  'swaps.none_open': 'Kein Swap ist offen.',
  'swaps.give_get': '{gives} für {gets}',
  'swaps.no_deadline': 'keine',
  'swaps.restore': 'Swaps eines anderen Geräts zurückbringen',
  'swaps.only_here':
    'In diesem Browser aufbewahrt. Ein anderes Gerät zeigt sie, wenn du dort deine Rettungsphrase eingibst.',

  'receipt.title': 'Quittung für Swap {id}',
  'receipt.agreed': 'Vereinbart: {at}',
  'receipt.end.open': 'Beendet: noch nicht',
  'receipt.end.done_received': 'Beendet: du hast abgeholt',
  'receipt.end.done_refunded': 'Beendet: du hast zurückgeholt',
  'receipt.end.done_lost': 'Beendet: die andere Seite hat abgeholt, du nicht',
  'receipt.end.done_unpaid': 'Beendet: keine Zahlung kam rechtzeitig an',
  'receipt.end.done_nothing': 'Beendet: nichts wurde bewegt',
  'receipt.given': 'Gegeben: {amount} auf {chain}',
  'receipt.given.back': 'Gegeben: nichts; {amount} auf {chain} wurden zurückgeholt',
  'receipt.received': 'Bekommen: {amount} auf {chain}',
  'receipt.received.back':
    'Bekommen: nichts; {amount} auf {chain} gingen an die andere Seite zurück',
  'receipt.token': 'Token',
  'receipt.escrow': 'Escrow',
  'receipt.own': 'Eigene Adresse',
  'receipt.locked': 'Gesperrt in Transaktion',
  'receipt.collected': 'Abgeholt in Transaktion',
  'receipt.back': 'Zurückgegangen in Transaktion',
};
